package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

func TestARestingLimitOrderIsToldAsInSection21(t *testing.T) {
	f := newFloor(t, nil)
	answer := f.ok(f.alice, "POST /order",
		btc("buy limit amount=0.0003 price=30000 codGroupId=4 clientOrderId="+client(1)))
	require.Equal(t, `{"orderId":"00000000-0000-0001-0100-000000000001","clientOrderId":"00000000-0000-4000-0000-000000000001","market":"BTC-EUR",`+
		`"created":1767225600000,"updated":1767225600000,"createdNs":1767225600000000000,"updatedNs":1767225600000000000,`+
		`"status":"new","side":"buy","orderType":"limit","amount":"0.0003","amountRemaining":"0.0003","price":"30000",`+
		`"onHold":"9.03","onHoldCurrency":"EUR","filledAmount":"0","filledAmountQuote":"0","feePaid":"0","feeCurrency":"EUR","fills":[],`+
		`"selfTradePrevention":"decrementAndCancel","visible":true,"timeInForce":"GTC","postOnly":false,"disableMarketProtection":false,"operatorId":7,"codGroupId":4}`, answer)
	require.Equal(t, answer, f.ok(f.alice, "GET /order", "market=BTC-EUR orderId=00000000-0000-0001-0100-000000000001"))
	require.Equal(t, "["+answer+"]", f.ok(f.alice, "GET /ordersOpen", ""))
	require.Equal(t, "["+answer+"]", f.ok(f.alice, "GET /orders", "market=BTC-EUR"))
}

func TestTwoAccountsFillEachOthersOrdersInParts(t *testing.T) {
	f := newFloor(t, nil)
	bid := f.place(f.alice, "buy limit amount=2 price=100")
	f.wait(time.Second)
	ask := f.place(f.bob, "sell limit amount=0.5 price=90")
	require.Equal(t, "filled", ask.Status)
	require.False(t, ask.Visible)
	require.Equal(t, "0.13", ask.FeePaid, "50 at 0.25 %: credited 49.87")
	require.Equal(t, []toldTrade{{ID: "00000000-0000-0001-0000-000000000001", Timestamp: started.Millis() + 1000,
		Amount: "0.5", Price: "100", Taker: true,
		Fee: text("0.13"), FeeCurrency: text("EUR"), Settled: true}}, ask.Fills)

	bid = f.order(f.alice, "GET /order", "market=BTC-EUR orderId="+bid.OrderID)
	require.Equal(t, []string{"partiallyFilled", "2", "1.5", "0.5", "0.08"},
		[]string{bid.Status, bid.Amount, bid.AmountRemaining, bid.FilledAmount, bid.FeePaid})
	require.True(t, bid.Visible)
	require.Equal(t, started.Millis(), bid.Created)
	require.Equal(t, started.Millis()+1000, bid.Updated)
	require.False(t, bid.Fills[0].Taker)

	f.place(f.bob, "sell limit amount=1.5 price=100")
	bid = f.order(f.alice, "GET /order", "market=BTC-EUR orderId="+bid.OrderID)
	require.Equal(t, "filled", bid.Status)
	require.Len(t, bid.Fills, 2)
	require.Equal(t, "0", bid.OnHold)
	require.Empty(t, f.list(f.alice, "GET /ordersOpen", ""))
}

func text(s string) *string { return &s }

func TestWhatMustNotRestExpiresOrIsCancelled(t *testing.T) {
	cases := []struct{ order, status, filled string }{
		{"buy limit amount=1 price=100 postOnly=true", "canceled cancelPostOnly", "0"},
		{"buy limit amount=1 price=99 postOnly=true", "new", "0"},
		{"buy limit amount=2 price=100 timeInForce=IOC", "expired", "1"},
		{"buy limit amount=2 price=100 timeInForce=FOK", "expired", "0"},
		{"buy limit amount=1 price=100 timeInForce=FOK", "filled", "1"},
		{"buy market amount=2", "expired", "1"},
		{"buy market amountQuote=50", "filled", "0.498753"},
	}
	for _, c := range cases {
		f := newFloor(t, nil)
		f.place(f.bob, "sell limit amount=1 price=100")
		have := f.place(f.alice, c.order)
		require.Equal(t, c.filled, have.FilledAmount, c.order)
		require.Equal(t, c.status, f.statusOf(f.alice, have.OrderID), c.order)
	}
}

func TestAnOrderMeetsNoneOfItsOwnAccount(t *testing.T) {
	f := newFloor(t, nil)
	resting := f.place(f.alice, "sell limit amount=3 price=100")
	taking := f.place(f.alice, "buy limit amount=5 price=100")
	require.Equal(t, "canceled cancelOnSelfTradePrevention", f.statusOf(f.alice, resting.OrderID))
	require.Equal(t, "new decrementOnSelfTradePrevention", f.statusOf(f.alice, taking.OrderID))
	require.Equal(t, "2", taking.Amount)
	require.Empty(t, f.ok(f.alice, "GET /trades", "market=BTC-EUR")[2:])
}

func TestTriggersHaveTheirDefaults(t *testing.T) {
	f := newFloor(t, nil)
	stop := f.place(f.alice, "sell stopLoss amount=1 triggerAmount=90")
	require.Equal(t, []string{"awaitingTrigger", "90", "price", "lastTrade"},
		[]string{stop.Status, stop.TriggerAmount, stop.TriggerType, stop.TriggerReference})
	require.False(t, stop.Visible, "it is not in the book")
	stop = f.place(f.alice, "sell stopLossLimit amount=1 price=80 triggerAmount=90 triggerType=price "+
		"triggerReference=bestBid")
	require.Equal(t, "bestBid", stop.TriggerReference)
	other := newStage(t, func(c *Config) { c.Rules.TriggerReference = market.BestAsk })
	other.has(other.place("alice", "sell stopLoss amount=1 triggerAmount=90"), "triggerReference=bestAsk")
}

func TestWithoutResponseRequiredTheAnswerIsShort(t *testing.T) {
	f := newFloor(t, nil)
	require.Empty(t, f.ok(f.alice, "POST /order", btc("buy limit amount=1 price=100 responseRequired=false")))
	require.Equal(t, `{"orderId":"00000000-0000-0001-0100-000000000001","market":"BTC-EUR",`+
		`"created":1767225600000,"updated":1767225600000,"createdNs":1767225600000000000,"updatedNs":1767225600000000000}`,
		f.ok(f.alice, "PUT /order",
			"market=BTC-EUR operatorId=7 orderId=00000000-0000-0001-0100-000000000001 "+
				"price=101 responseRequired=false"))
	f.config.Rules.ShortCreate = true
	require.Equal(t, `{"orderId":"00000000-0000-0001-0100-000000000002","clientOrderId":"`+client(
		1)+`","market":"BTC-EUR",`+
		`"created":1767225600000,"updated":1767225600000,"createdNs":1767225600000000000,"updatedNs":1767225600000000000}`,
		f.ok(f.alice, "POST /order",
			btc("buy limit amount=1 price=100 responseRequired=false clientOrderId="+client(1))))
}

func TestAnUpdateAnswersOnlyItsOwnFills(t *testing.T) {
	f := newFloor(t, nil)
	bid := f.place(f.alice, "buy limit amount=3 price=100")
	f.place(f.bob, "sell limit amount=1 price=100")
	f.place(f.bob, "sell limit amount=1 price=105")
	f.wait(time.Second)
	moved := f.order(f.alice, "PUT /order", "market=BTC-EUR operatorId=-8 price=106 orderId="+bid.OrderID)
	require.Len(t, moved.Fills, 1)
	require.Equal(t, "105", moved.Fills[0].Price)
	require.Equal(t, []any{bid.OrderID, "106", "2", int64(-8), bid.Created, started.Millis() + 1000},
		[]any{moved.OrderID, moved.Price, moved.FilledAmount, moved.OperatorID, moved.Created, moved.Updated})
	require.Len(t, f.order(f.alice, "GET /order", "market=BTC-EUR orderId="+bid.OrderID).Fills, 2)
	require.Empty(t, f.order(f.alice, "PUT /order",
		"market=BTC-EUR operatorId=7 amount=2.5 orderId="+bid.OrderID).Fills)
}

func TestAnUpdateThatLeavesThemOutResetsPostOnlyAndSelfTradePrevention(t *testing.T) {
	f := newFloor(t, nil)
	bid := f.place(f.alice, "buy limit amount=1 price=100 postOnly=true selfTradePrevention=cancelBoth timeInForce=GTC")
	same := f.order(f.alice, "PUT /order",
		"market=BTC-EUR operatorId=7 amountRemaining=2 postOnly=true selfTradePrevention=cancelBoth "+
			"orderId="+bid.OrderID)
	require.True(t, same.PostOnly)
	require.Equal(t, "cancelBoth", same.SelfTradePrevention)
	require.Equal(t, "2", same.Amount)
	reset := f.order(f.alice, "PUT /order", "market=BTC-EUR operatorId=7 price=101 orderId="+bid.OrderID)
	require.False(t, reset.PostOnly)
	require.Equal(t, "decrementAndCancel", reset.SelfTradePrevention)
}

func TestEachParameterOfAnUpdateCountsAsAChange(t *testing.T) {
	f := newFloor(t, nil)
	limit := f.place(f.alice, "buy limit amount=1 price=100").OrderID
	stop := f.place(f.alice, "sell stopLoss amountQuote=100 triggerAmount=90").OrderID
	for _, change := range []string{"amount=2", "amountRemaining=1", "price=99", "timeInForce=GTC", "postOnly=false",
		"selfTradePrevention=cancelBoth"} {
		f.ok(f.alice, "PUT /order", "market=BTC-EUR operatorId=7 "+change+" orderId="+limit)
	}
	for _, change := range []string{"amountQuote=50", "triggerAmount=80", "timeInForce=IOC"} {
		f.ok(f.alice, "PUT /order", "market=BTC-EUR operatorId=7 "+change+" orderId="+stop)
	}
}

func TestTheClientOrderIDNamesTheOrderWhereBothAreGiven(t *testing.T) {
	f := newFloor(t, nil)
	first := f.place(f.alice, "buy limit amount=1 price=100")
	second := f.place(f.alice, "buy limit amount=1 price=100 clientOrderId="+client(2))
	both := " orderId=" + first.OrderID + " clientOrderId=" + client(2)
	require.Equal(t, second.OrderID, f.order(f.alice, "GET /order", "market=BTC-EUR"+both).OrderID)
	require.Equal(t, second.OrderID,
		f.order(f.alice, "PUT /order", "market=BTC-EUR operatorId=7 price=99"+both).OrderID)
	require.JSONEq(t, `{"orderId":"`+second.OrderID+`","clientOrderId":"`+client(2)+`","operatorId":9}`,
		f.ok(f.alice, "DELETE /order", "market=BTC-EUR operatorId=9"+both))
	require.JSONEq(t, `{"orderId":"`+first.OrderID+`"}`,
		f.ok(f.alice, "DELETE /order", "market=BTC-EUR orderId="+first.OrderID), "where operatorId is optional")
}

func TestAClientOrderIDIsFreeAgainWhenItsOrderHasClosed(t *testing.T) {
	f := newFloor(t, nil)
	order := "buy limit amount=1 price=100 clientOrderId=" + client(3)
	first := f.place(f.alice, order)
	f.refused(f.alice, "POST /order", btc(order), 220, "")
	f.place(f.bob, order) // another account's own
	require.NotContains(t, f.ok(f.alice, "POST /order",
		"market=ETH-EUR operatorId=7 side=buy orderType=limit amount=1 price=100 clientOrderId="+client(3)),
		"errorCode")
	f.ok(f.alice, "DELETE /order", "market=BTC-EUR operatorId=7 clientOrderId="+client(3))
	require.Equal(t, first.OrderID, f.order(f.alice, "GET /order", "market=BTC-EUR clientOrderId="+client(3)).OrderID)
	second := f.place(f.alice, order)
	require.Equal(t, second.OrderID, f.order(f.alice, "GET /order", "market=BTC-EUR clientOrderId="+client(3)).OrderID)
	require.Equal(t, client(3), *f.order(f.alice, "GET /order", "market=BTC-EUR orderId="+first.OrderID).ClientOrderID)

	listed := f.list(f.alice, "GET /orders", "market=BTC-EUR")
	require.Equal(t, []string{second.OrderID, first.OrderID}, ids(listed))
	require.Equal(t, client(3), *listed[0].ClientOrderID)
	require.Nil(t, listed[1].ClientOrderID)
	require.Contains(t, f.ok(f.alice, "GET /orders", "market=BTC-EUR"), `"clientOrderId":null`)
}

func TestCancellingManyCancelsOnlyWhatWasAskedFor(t *testing.T) {
	f := newFloor(t, nil)
	first, second := f.place(f.alice, "buy limit amount=1 price=100"), f.place(f.alice,
		"sell stopLoss amount=1 triggerAmount=50")
	other := f.order(f.alice, "POST /order", "market=ETH-EUR operatorId=7 side=buy orderType=limit amount=1 price=100")
	bobs := f.place(f.bob, "buy limit amount=1 price=90")
	require.JSONEq(t, `[{"orderId":"`+first.OrderID+`","operatorId":5},{"orderId":"`+second.OrderID+`","operatorId":5}]`, f.ok(f.alice, "DELETE /orders", "market=BTC-EUR operatorId=5"))
	require.Equal(t, "[]", f.ok(f.alice, "DELETE /orders", "market=BTC-EUR operatorId=5"))
	f.listings[2].Status = market.Halted
	require.Equal(t, "[]", f.ok(f.alice, "DELETE /orders", "operatorId=5"), "a halted market keeps its orders")
	f.listings[2].Status = market.CancelOnly
	require.JSONEq(t, `[{"orderId":"`+other.OrderID+`","operatorId":5,"market":"ETH-EUR"}]`,
		f.ok(f.alice, "DELETE /orders", "operatorId=5"))
	require.Equal(t, "canceled", f.statusOf(f.alice, first.OrderID))
	require.Equal(t, "new", f.statusOf(f.bob, bobs.OrderID))
}

func TestAnOrderIsNobodyElsesBusiness(t *testing.T) {
	f := newFloor(t, nil)
	bid := f.place(f.alice, "buy limit amount=1 price=100")
	for _, endpoint := range []string{"GET /order", "DELETE /order", "PUT /order"} {
		price := ""
		if endpoint == "PUT /order" {
			price = " price=3"
		}
		f.refused(f.bob, endpoint, "market=BTC-EUR orderId="+bid.OrderID+price, 240, "No order found")
		f.refused(f.alice, endpoint, "market=ETH-EUR orderId="+bid.OrderID+price, 240, "No order found")
		f.refused(f.alice, endpoint, "market=BTC-EUR orderId=decccad3-7c79-4933-a34e-dfe911ebd363"+price, 240,
			"No order found")
	}
	require.Empty(t, f.list(f.bob, "GET /orders", "market=BTC-EUR"))
}

func TestPlacingARestingOrderAllocatesLittle(t *testing.T) {
	f := newFloor(t, nil)
	for _, m := range f.catalog.Markets() {
		m.MaxOpenOrders = 0
	}
	require.NoError(t, f.venue.Transfer(f.alice.id, 1, 1_000_000_00))
	c := &api.Call{Account: f.alice.place(), Now: f.now}
	c.Endpoint = listed.Named("POST /order")
	c.Args = make(api.Arguments, len(c.Endpoint.Params))
	for name, value := range map[string]string{"market": "BTC-EUR", "side": "buy", "orderType": "limit",
		"amount": "0.01", "price": "700"} {
		*c.Arg(name) = api.Argument{Set: true, Text: value}
	}
	allocations := testing.AllocsPerRun(20_000, func() {
		c.Out = c.Out[:0]
		if refused := f.postOrder(c); refused != nil {
			t.Fatal(refused)
		}
	})
	require.LessOrEqual(t, allocations, 1.0, "what grows grows by slabs")
	require.Equal(t, 20_001, f.alice.recordsOf(1).open.length)
}
