package exchange_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// record returns a small valid record with more members, in place of those of the same name.
func record(more string) []byte {
	text := "{"
	for _, member := range [...][2]string{{`"orderId":`, `"01000000-0000-0000-0000-000000000000"`},
		{`"market":`, `"BTC-EUR"`}, {`"side":`, `"sell"`}, {`"status":`, `"new"`}, {`"orderType":`, `"limit"`}} {
		if !strings.Contains(more, member[0]) {
			text += member[0] + member[1] + ","
		}
	}
	return []byte(strings.TrimSuffix(text, ",") + more + "}")
}

// A record with a member twice is no answer: which of the two is true cannot be known.
func TestAMemberThatComesTwiceIsNoRecord(t *testing.T) {
	for _, name := range []string{"orderId", "market", "side", "status", "orderType", "amount", "filledAmount"} {
		text := string(record(`,"amount":"2","filledAmount":"1"`))
		doubled := strings.Replace(text, `"`+name+`":`, `"`+name+`":"0","`+name+`":`, 1)
		_, _, err := exchange.ParseOrder([]byte(doubled), wireCatalog(t))
		require.ErrorContains(t, err, name+": it comes twice")
	}
	_, _, err := exchange.ParseOrder(record(`,"fills":[],"fills":[]`), wireCatalog(t))
	require.NoError(t, err, "two lists without a fill say the same")
	_, _, err = exchange.ParseOrder(record(`,"fills":[{"id":"a"}],"fills":[]`), wireCatalog(t))
	require.ErrorContains(t, err, "fills: it comes twice")
	_, _, err = exchange.ParseOrder(record(`,"fills":[{"amount":"1","amount":"2"}]`), wireCatalog(t))
	require.ErrorContains(t, err, "fills.amount: it comes twice")
	_, err = exchange.ParseNotice([]byte(`{"event":"fill","market":"BTC-EUR","amount":"1","amount":"2"}`), wireCatalog(t))
	require.ErrorContains(t, err, "fills.amount: it comes twice")
}

func TestUnknownTextsAndFieldsAreTolerated(t *testing.T) {
	order, fills, err := exchange.ParseOrder(record(`,"status":"melted","orderType":"iceberg","timeInForce":"GTD","selfTradePrevention":"x","triggerType":"index",
		"triggerReference":"moon","restatementReason":"cancelOnWhim","clientOrderId":"freqtrade-1","margin":{"deep":[1,2]},"fills":[]`), wireCatalog(t))
	require.NoError(t, err)
	require.Empty(t, fills)
	require.Equal(t, market.StatusUnresolved, order.Status)
	require.False(t, order.Done())
	zero := market.Order{ExchangeID: order.ExchangeID, Market: 1, Side: market.Sell,
		OrderState: market.OrderState{Status: market.StatusUnresolved}, FeeCurrency: 1, OnHoldCurrency: 2}
	require.Equal(t, zero, order)
}

func TestNullIsAbsent(t *testing.T) {
	nulls := `,"clientOrderId":null,"created":null,"createdNs":null,"amount":null,"price":null,"onHold":null,"onHoldCurrency":null,"triggerAmount":null,
		"feePaid":null,"feeCurrency":null,"fills":null,"visible":null,"postOnly":null,"operatorId":null,"restatementReason":null,"codGroupId":null,"timeInForce":null`
	with, _, err := exchange.ParseOrder(record(nulls), wireCatalog(t))
	require.NoError(t, err)
	without, _, err := exchange.ParseOrder(record(""), wireCatalog(t))
	require.NoError(t, err)
	require.Equal(t, without, with)
}

func TestNumbersMayBeQuotedOrNot(t *testing.T) {
	quoted, _, err := exchange.ParseOrder(
		record(`,"amount":"75000","created":"1702354762111","operatorId":"9007199254740993"`), wireCatalog(t))
	require.NoError(t, err)
	bare, _, err := exchange.ParseOrder(
		record(`,"amount":7.5E+4,"created":1702354762111,"operatorId":9007199254740993`), wireCatalog(t))
	require.NoError(t, err)
	require.Equal(t, quoted, bare)
	require.Equal(t, int64(9007199254740993), bare.OperatorID) // one above 2^53: a float would lose it
}

func TestTriggerPriceStandsInForTriggerAmount(t *testing.T) {
	order, _, err := exchange.ParseOrder(record(`,"orderType":"stopLoss","triggerPrice":"31.5"`), wireCatalog(t))
	require.NoError(t, err)
	require.Equal(t, market.Price(3150), order.TriggerAmount)
}

func TestTriggeredIsInferredFromTheStatus(t *testing.T) {
	cases := []struct {
		status, filled string
		want           bool
	}{
		{"awaitingTrigger", "0", false}, {"new", "0", true}, {"partiallyFilled", "1", true}, {"filled", "1",
			true}, {"expired", "0", true},
		{"canceled", "0", false}, // nobody can say: cancelled before or after
		{"canceled", "1", true},
	}
	for _, c := range cases {
		order, _, err := exchange.ParseOrder(
			record(`,"orderType":"stopLossLimit","status":"`+c.status+`","filledAmount":"`+c.filled+`"`),
			wireCatalog(t))
		require.NoError(t, err)
		require.Equal(t, c.want, order.Triggered, c.status)
	}
}

func TestUnsettledFillHasNoFee(t *testing.T) {
	const fill = `"id":"02000000-0000-0000-0000-000000000000","timestamp":1702354762111,"amount":"1","price":"2","taker":true`
	cases := []struct {
		more    string
		settled bool
		fee     int64
	}{
		{`,"settled":false`, false, 0},
		{`,"settled":false,"fee":"0.5"`, false, 0},
		{`,"settled":true,"fee":"0.5","feeCurrency":"EUR"`, true, 5_000_000_000},
		{`,"settled":true,"fee":"-0.5"`, true, -5_000_000_000}, // a rebate
		{`,"fee":"0.5"`, true, 5_000_000_000},
		{``, false, 0},
	}
	for _, c := range cases {
		_, fills, err := exchange.ParseOrder(record(`,"fills":[{`+fill+c.more+`}]`), wireCatalog(t))
		require.NoError(t, err)
		require.Len(t, fills, 1)
		require.Equal(t, c.settled, fills[0].Settled, c.more)
		require.Equal(t, market.ValueOf(c.fee), fills[0].Fee, c.more)
		require.Equal(t, market.Sell, fills[0].Side)
	}
}

func TestRemainderOfAQuoteAmountIsRoundedDown(t *testing.T) {
	order, _, err := exchange.ParseOrder(
		record(`,"orderType":"market","amountQuote":"10","amountQuoteRemaining":"3.10551062"`), wireCatalog(t))
	require.NoError(t, err)
	require.Equal(t, market.Money(310), order.AmountQuoteRemaining)
}

func TestErrorsNameTheField(t *testing.T) {
	cases := []struct{ more, want string }{
		{`,"market":"ETH-EUR"`, `"ETH-EUR": the market is not in the catalog`},
		{`,"orderId":"7"`, "orderId"},
		{`,"side":"both"`, "side"},
		{`,"price":"1.234"`, "price"}, // three decimals in a market of two
		{`,"price":"-1"`, "price: -100 is negative"},
		{`,"amount":"0.000000001"`, "amount"},
		{`,"amount":"99999999999999999999"`, "amount"},
		{`,"amountQuoteRemaining":"-1"`, "amountQuoteRemaining"},
		{`,"onHold":"1","onHoldCurrency":"GOLD"`, `onHoldCurrency: asset "GOLD"`},
		{`,"feeCurrency":"GOLD"`, "feeCurrency"},
		{`,"feePaid":"0.00000000001"`, "feePaid"},
		{`,"created":8640000000000001`, "created"}, // beyond what a Time can hold
		{`,"createdNs":9223372036854775808`, "createdNs"},
		{`,"updated":1.5`, "updated"},
		{`,"codGroupId":65536`, "codGroupId"},
		{`,"operatorId":"1.5"`, "operatorId"},
		{`,"amount":"abc"`, "abc"},
		{`,"fills":[{"id":"x"}]`, "fills.id"},
		{`,"fills":{}`, "fills"},
		{`,"visible":"yes"`, "visible"},
		{`,"side":1`, "side: 1 is no text"},
		{`,"amount":""`, `amount: "" is no number`},
		{`,"amount":"+5"`, `amount: "+5" is no number`},
		{`,"amount":[5]`, "amount"},
		{`,"postOnly":"true"`, "postOnly"},
		{`,"fills":[null]`, "malformed answer"},
		{`,"fills":[{"id":7}]`, "fills.id"},
		{`}{`, "malformed answer"},
		{`,"amount":1`[:9], "malformed answer"},
	}
	for _, c := range cases {
		_, _, err := exchange.ParseOrder(record(c.more), wireCatalog(t))
		require.ErrorContains(t, err, c.want, c.more)
	}
	_, _, err := exchange.ParseOrder(record(`,"market":"ETH-EUR"`), wireCatalog(t))
	require.ErrorIs(t, err, exchange.ErrUnknownMarket)
	_, _, err = exchange.ParseOrder(record(`,"price":"1.234"`), wireCatalog(t))
	require.ErrorIs(t, err, market.ErrInexact)
}

func FuzzParseOrder(f *testing.F) {
	cat := wireCatalog(f)
	order := plainOrder()
	f.Add(exchange.AppendOrder(nil, cat, &order, []market.Fill{{Settled: true}, {}}))
	for _, more := range []string{"", `,"amountQuote":"5.5","fills":[{"id":null}]`,
		`,"orderType":"takeProfit","triggerPrice":"7.5E+4"`,
		`,"created":-1,"feePaid":"-170141183460469231731687303715"`} {
		f.Add(record(more))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, fills, err := exchange.ParseOrder(data, cat)
		if err != nil {
			return
		}
		written := exchange.AppendOrder(nil, cat, &first, fills)
		second, fills, err := exchange.ParseOrder(written, cat)
		require.NoError(t, err, "%s", written)
		require.Equal(t, string(written), string(exchange.AppendOrder(nil, cat, &second, fills)))
	})
}

func ExampleParseOrder() {
	var cat market.Catalog
	cat.AddAsset("EUR", 2)
	cat.AddAsset("BTC", 8)
	cat.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2})
	order, fills, err := exchange.ParseOrder([]byte(`{"orderId":"1be6d0df-d5dc-4b53-a250-3376f3b393e6","market":"BTC-EUR","side":"sell","status":"filled","amount":"0.5",
		"fills":[{"id":"66aaa9c7-c9e9-4920-8629-d0e878d9cc3d","timestamp":1700130652275,"amount":"0.5","price":"34469","taker":true,"settled":false}]}`), &cat)
	fmt.Println(order.Status, order.Amount, fills[0].Time, err)
	// Output: filled 50000000 2023-11-16T10:30:52.275Z <nil>
}
