package sandbox

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestEveryRefusalOfANewOrder(t *testing.T) {
	cases := []struct {
		order   string
		code    int
		message string
	}{
		{"buy limit amount=0 price=100", 205, "amount parameter is invalid."},
		{"buy limit amount=1 price=0", 205, "price parameter is invalid."},
		{"buy market amountQuote=0.00", 205, "amountQuote parameter is invalid."},
		{"buy stopLoss amount=1 triggerAmount=0", 205, "triggerAmount parameter is invalid."},
		{"buy limit amount=one price=100", 205, "amount parameter is invalid."},
		{"hold limit amount=1 price=100", 205, "side parameter is invalid."},
		{"buy iceberg amount=1 price=100", 205, "orderType parameter is invalid."},
		{"buy limit amount=1 price=100 timeInForce=DAY", 205, "timeInForce parameter is invalid."},
		{"buy limit amount=1 price=100 clientOrderId=00000000-0000-0000-0000-000000000000", 205,
			"clientOrderId parameter is invalid."},
		// more than the asset's
		{"buy limit amount=1.123456789 price=100", 429, "amount parameter has too many decimals."},
		// more than quantityDecimals
		{"buy limit amount=1.1234567 price=100", 429, "amount parameter has too many decimals."},
		// zeros are no decimals
		{"buy limit amount=1.1234560 price=1234567", 216, ""},
		// and no overflow
		{"buy limit amount=0.12345678901234567890123 price=100", 429, "amount parameter has too many decimals."},
		{"buy limit amount=.12345678901234567890123 price=100", 429, "amount parameter has too many decimals."},
		{"buy market amountQuote=10.001", 429, "amountQuote parameter has too many decimals."},
		{"buy limit amount=1 price=100.001", 422, "price is not a multiple"}, // finer than the tick
		{"buy limit amount=1 price=100.0000000000000001", 215, ""},
		{"buy limit amount=1 price=0.0000000000000001", 213, ""},
		{"buy stopLoss amount=1 triggerAmount=100.001", 422, "triggerAmount is not a multiple"},
		{"buy limit amount=99999999999999999999 price=100", 210, ""},
		{"buy market amountQuote=99999999999999999999", 210, ""},
		{"buy limit amount=1001 price=100", 210, ""}, // the market's maximum
		{"buy limit amount=1 price=99999999999999999999", 211, ""},
		{"buy limit amount=1 price=100000000001", 211, ""},
		{"buy stopLoss amount=1 triggerAmount=99999999999999999999", 211, ""},
		{"buy limit price=100", 203, "amount parameter is required."},
		{"buy limit amount=1", 203, "price parameter is required."},
		{"buy market", 203, "amount parameter is required."},
		{"buy market amount=1 amountQuote=10", 206, "Use either amount or amountQuote."},
		{"buy stopLoss amount=1 amountQuote=10 triggerAmount=100", 206, "Use either amount or amountQuote."},
		{"buy limit amountQuote=10 price=100", 202, "amountQuote parameter is not supported for this orderType."},
		{"buy market amount=1 price=100", 202, "price parameter"},
		{"buy market amount=1 postOnly=true", 202, "postOnly parameter"},
		{"buy market amount=1 codGroupId=3", 202, "codGroupId parameter"},
		{"buy limit amount=1 price=100 triggerAmount=90", 202, "triggerAmount parameter"},
		{"buy limit amount=1 price=100 triggerType=price", 202, "triggerType parameter"},
		{"buy market amount=1 triggerReference=bestBid", 202, "triggerReference parameter"},
		{"buy stopLoss amount=1", 237, "triggerAmount parameter is required for orderType stopLoss."},
		{"buy takeProfit amount=1 triggerType=price", 237,
			"triggerAmount parameter is required for orderType takeProfit."},
		{"buy stopLossLimit amount=1 price=100", 238,
			"triggerAmount parameter is required for orderType stopLossLimit."},
		{"buy takeProfitLimit amount=1 price=100", 238,
			"triggerAmount parameter is required for orderType takeProfitLimit."},
		{"buy limit amount=1 price=100.5", 422, "price is not a multiple"},
		{"sell stopLoss amount=1 triggerAmount=100.5", 422, "triggerAmount is not a multiple"},
		{"buy limit amount=0.00009 price=90000", 212, "Minimum order size in base currency is 0.0001 BTC."},
		{"buy limit amount=0.01 price=499", 217, "Minimum order size in quote currency is 5 EUR or 0.0001 BTC."},
		{"buy market amountQuote=4.99", 217, "Minimum order size in quote currency is 5 EUR or 0.0001 BTC."},
		{"buy limit amount=10 price=100", 216, "You do not have sufficient balance"},
		{"sell limit amount=1000.5 price=100", 210, ""},
	}
	for _, c := range cases {
		f := newFloor(t, nil)
		f.refused(f.alice, "POST /order", btc(c.order), c.code, c.message)
		require.Equal(t, "[]", f.ok(f.alice, "GET /orders", "market=BTC-EUR"), "%s leaves nothing", c.order)
		require.Equal(t, "00000000-0000-0001-0100-000000000001",
			f.place(f.alice, "buy limit amount=1 price=100").OrderID, "nor a gap")
	}
}

// A sale that would bring more than a balance can count expires; what it would have met stays, and
// everything goes on.
func TestASaleThatABalanceCannotCountExpiresAndTheExchangeGoesOn(t *testing.T) {
	f := newFloor(t, nil)
	f.place(f.alice, "buy limit amount=1 price=100")
	f.place(f.alice, "buy limit amount=1 price=90")
	rich := f.venue.BalanceOf(f.bob.id, 1).Total
	require.NoError(t, f.venue.Transfer(f.bob.id, 1, math.MaxInt64-rich))
	require.Contains(t, f.ok(f.bob, "POST /order", btc("sell market amount=1")), `"status":"expired"`)
	require.Equal(t, market.Money(math.MaxInt64), f.venue.BalanceOf(f.bob.id, 1).Total)
	require.NoError(t, f.venue.Transfer(f.bob.id, 1, -1000_00)) // room for the next one
	require.Contains(t, f.ok(f.bob, "POST /order", btc("sell market amount=1")), `"status":"filled"`)
	require.NoError(t, f.venue.Err())
}

func TestOpenOrdersOfAMarketAreLimited(t *testing.T) {
	f := newFloor(t, nil)
	for range 5 {
		f.place(f.alice, "buy limit amount=1 price=100")
	}
	f.refused(f.alice, "POST /order", btc("buy limit amount=1 price=100"), 235,
		"The limit of 5 open orders in this market is reached.")
	f.place(f.bob, "buy limit amount=1 price=99")
	f.place(f.alice, "sell market amount=1") // it is never open
}

func TestRefusalsByTheMarketsStatus(t *testing.T) {
	limit, stop := btc("buy limit amount=1 price=100"), btc("sell stopLoss amount=1 triggerAmount=90")
	cases := []struct {
		status     market.MarketStatus
		endpoint   string
		parameters string // "ID" stands for an open order
		code       int    // 0: it is taken
	}{
		{market.Halted, "POST /order", limit, 423},
		{market.Halted, "PUT /order", "ID price=99", 423},
		{market.Halted, "DELETE /order", "ID", 423},
		{market.Halted, "DELETE /orders", "", 423},
		{market.CancelOnly, "POST /order", limit, 424},
		{market.CancelOnly, "PUT /order", "ID price=99", 424},
		{market.CancelOnly, "DELETE /order", "ID", 0},
		{market.Auction, "POST /order", btc("sell market amount=1"), 425},
		{market.Auction, "POST /order", limit + " timeInForce=IOC", 231},
		{market.Auction, "PUT /order", "ID timeInForce=FOK", 231},
		{market.Auction, "POST /order", limit, 0},
		{market.Auction, "POST /order", stop, 0},
		{market.AuctionMatching, "POST /order", limit, 426},
		{market.AuctionMatching, "PUT /order", "ID price=99", 426},
		{market.AuctionMatching, "DELETE /order", "ID", 0},
	}
	for _, c := range cases {
		f := newFloor(t, nil)
		open := f.place(f.alice, "buy limit amount=1 price=100").OrderID
		require.NoError(t, f.venue.Advance(&market.Event{Kind: market.KindMarketStatus, Market: 1, At: f.now,
			Status: c.status}))
		parameters := c.parameters
		switch {
		case c.endpoint == "DELETE /orders":
			parameters = "market=BTC-EUR operatorId=7"
		case c.endpoint != "POST /order":
			parameters = "market=BTC-EUR operatorId=7 orderId=" + open + c.parameters[len("ID"):]
		}
		if c.code == 0 {
			f.ok(f.alice, c.endpoint, parameters)
		} else {
			f.refused(f.alice, c.endpoint, parameters, c.code, "")
		}
	}
}

func TestEveryRefusalOfAnUpdate(t *testing.T) {
	cases := []struct {
		order, change string
		code          int
		message       string
	}{
		{"buy limit amount=1 price=100", "", 232, "You must change at least one of"},
		{"buy limit amount=1 price=100", "responseRequired=false", 232, ""}, // changes nothing
		{"buy limit amount=1 price=100", "amount=2 amountRemaining=2", 236, ""},
		{"buy limit amount=1 price=100", "amount=2 amountQuote=20", 236, ""},
		{"buy limit amount=1 price=100", "amountQuote=20", 239, ""},
		{"sell stopLoss amountQuote=100 triggerAmount=90", "amount=1", 239, ""},
		{"buy limit amount=1 price=100", "triggerAmount=90", 202, "triggerAmount"},
		{"sell stopLoss amount=1 triggerAmount=90", "price=80", 202, "price"},
		{"sell stopLoss amount=1 triggerAmount=90", "postOnly=true", 202, "postOnly"},
		{"buy limit amount=1 price=100", "price=0", 205, "price parameter is invalid."},
		{"buy limit amount=1 price=100", "amountRemaining=0", 205, "amountRemaining parameter is invalid."},
		{"buy limit amount=1 price=100", "amountRemaining=1.123456789", 429, "amountRemaining"},
		{"buy limit amount=1 price=100", "amount=99999999999999999999", 210, ""},
		{"buy limit amount=1 price=100", "price=99999999999999999999", 211, ""},
		{"buy limit amount=1 price=100", "price=100.5", 422, "price is not"},
		{"sell stopLoss amount=1 triggerAmount=90", "triggerAmount=90.5", 422, "triggerAmount is not"},
		{"buy limit amount=1 price=100", "amount=0.00001", 212, "0.0001 BTC"},
		{"buy limit amount=1 price=100", "price=4", 217, "5 EUR or 0.0001 BTC"},
		{"buy limit amount=1 price=100", "price=5000", 216, ""},
		{"buy limit amount=1 price=100 timeInForce=IOC", "price=99", 240, "No order found"}, // it has expired
		{"buy market amount=1", "price=99", 234, "A market order cannot be updated."},
	}
	for _, c := range cases {
		f := newFloor(t, nil)
		order := f.place(f.alice, c.order)
		before := f.ok(f.alice, "GET /orders", "market=BTC-EUR")
		f.refused(f.alice, "PUT /order", "market=BTC-EUR operatorId=7 orderId="+order.OrderID+" "+c.change, c.code,
			c.message)
		require.Equal(t, before, f.ok(f.alice, "GET /orders", "market=BTC-EUR"), "%s leaves the order as it was",
			c.change)
	}
}

func TestAFilledPartCannotBeUpdatedAway(t *testing.T) {
	f := newFloor(t, nil)
	bid := f.place(f.alice, "buy limit amount=2 price=100")
	f.place(f.bob, "sell limit amount=1 price=100")
	f.refused(f.alice, "PUT /order", "market=BTC-EUR operatorId=7 amount=1 orderId="+bid.OrderID, 205,
		"amount parameter is invalid.")
	require.Equal(t, "1.5", f.order(f.alice, "PUT /order",
		"market=BTC-EUR operatorId=7 amountRemaining=0.5 orderId="+bid.OrderID).Amount)
}

func TestEveryRefusalOfTheOtherOrderEndpoints(t *testing.T) {
	f := newFloor(t, nil)
	gone := f.place(f.alice, "buy market amount=1").OrderID
	day := " start=1767225600000 end=" // and
	cases := []struct {
		endpoint, parameters string
		code                 int
		message              string
	}{
		{"GET /order", "market=BTC-EUR", 203, "orderId parameter is required."},
		{"GET /order", "market=BTC-EUR clientOrderId=" + client(1), 240, "No order found"},
		{"PUT /order", "market=BTC-EUR operatorId=7 price=1", 203, "orderId parameter is required."},
		{"DELETE /order", "market=BTC-EUR operatorId=7", 203, "orderId parameter is required."},
		{"DELETE /order", "market=BTC-EUR operatorId=7 orderId=" + gone, 240, "No order found"},
		{"DELETE /order", "market=BTC-EUR operatorId=7 clientOrderId=" + client(1) + " orderId=" + gone, 240,
			"No order found"},
		{"GET /orders", "market=BTC-EUR start=5 end=4", 205, "end parameter is invalid."},
		{"GET /orders", "market=BTC-EUR orderIdFrom=decccad3-7c79-4933-a34e-dfe911ebd363", 205,
			"orderIdFrom parameter is invalid."},
		{"GET /orders", "market=BTC-EUR orderIdTo=00000000-0000-0002-0100-000000000001", 205,
			"orderIdTo parameter is invalid."},
		{"GET /trades", "market=BTC-EUR tradeIdFrom=7", 205, "tradeIdFrom parameter is invalid."},
		{"GET /trades", "market=BTC-EUR tradeIdTo=00000000-0000-0001-0100-000000000001", 205,
			"tradeIdTo parameter is invalid."},
		{"GET /trades", "market=BTC-EUR" + day + "1767312000001", 205, "end parameter is invalid."},
		{"POST /cancelOrdersAfter", "codGroupId=1 expiryAfterSeconds=1", 205,
			"expiryAfterSeconds parameter is invalid."},
		{"POST /cancelOrdersAfter", "codGroupId=1 expiryAfterSeconds=9", 205,
			"expiryAfterSeconds parameter is invalid."},
	}
	for _, c := range cases {
		f.refused(f.alice, c.endpoint, c.parameters, c.code, c.message)
	}
	f.ok(f.alice, "GET /trades", "market=BTC-EUR"+day+"1767312000000")
	f.ok(f.alice, "GET /orders", "market=BTC-EUR"+day+"1767312000001")
	f.config.Rules.DayWindow = true
	f.refused(f.alice, "GET /orders", "market=BTC-EUR"+day+"1767312000001", 205, "end parameter is invalid.")
	f.wait(time.Second)
	f.ok(f.alice, "GET /orders", "market=BTC-EUR start=0")
}
