package exchange_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

func wireCatalog(t testing.TB) *market.Catalog {
	cat := &market.Catalog{}
	for _, asset := range []market.Asset{{Symbol: "EUR", Digits: 2}, {Symbol: "BTC", Digits: 8},
		{Symbol: "DIA", Digits: 8}, {Symbol: "SHIB", Digits: 8}} {
		_, err := cat.AddAsset(asset.Symbol, asset.Digits)
		require.NoError(t, err)
	}
	for _, m := range []market.Market{{Name: "BTC-EUR", PriceDigits: 2}, {Name: "DIA-EUR", PriceDigits: 4},
		{Name: "SHIB-EUR", PriceDigits: 10}} {
		require.NoError(t, cat.AddMarket(&m))
	}
	return cat
}

// fixtureRecords returns the order records of a fixture, whether it holds one or an array.
func fixtureRecords(t *testing.T, name string) []json.RawMessage {
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "spec", "fixtures", name))
	if err != nil {
		t.Skip("recorded orders are not here: ", err)
	}
	var many []json.RawMessage
	if json.Unmarshal(data, &many) == nil {
		return many
	}
	return []json.RawMessage{data}
}

func members(t testing.TB, record []byte) map[string]any {
	got := map[string]any{}
	require.NoError(t, json.Unmarshal(record, &got), "%s", record)
	return got
}

// The records were made before the exchange sent these members of specification 2.1, or with an
// operatorId for "none".
var addedSince = []string{"createdNs", "updatedNs", "postOnly", "disableMarketProtection", "operatorId"}

func TestRecordedOrdersAreWrittenAsTheyWereRead(t *testing.T) {
	cat := wireCatalog(t)
	for _, name := range []string{"order_create.json", "order_update.json", "orders_list_2023.json",
		"orders_open_2025.json"} {
		for _, record := range fixtureRecords(t, name) {
			order, fills, err := exchange.ParseOrder(record, cat)
			require.NoError(t, err)
			have, want := members(t, exchange.AppendOrder(nil, cat, &order, fills)), members(t, record)
			for _, key := range addedSince {
				delete(have, key)
				delete(want, key)
			}
			require.Equal(t, want, have, name)
		}
	}
}

func TestRecordedCreateGivesTheOrdersFields(t *testing.T) {
	cat := wireCatalog(t)
	order, fills, err := exchange.ParseOrder(fixtureRecords(t, "order_create.json")[0], cat)
	require.NoError(t, err)
	require.Empty(t, fills)
	require.Equal(t, market.Order{
		ExchangeID:    uuid.MustParse("decccad3-7c79-4933-a34e-dfe911ebd363"),
		ClientOrderID: uuid.MustParse("080b43f8-412d-4dc9-ac1f-d902554087ed"),
		Market:        1, Side: market.Buy, Type: market.TypeLimit, Visible: true,
		FeeCurrency:    1,
		OnHoldCurrency: 1,
		Created:        1702354762111_000_000,
		OrderState: market.OrderState{Status: market.StatusNew, TimeInForce: market.GTC,
			SelfTradePrevention: market.DecrementAndCancel, Price: 3_000_000, Amount: 30_000, AmountRemaining: 30_000,
			OnHold: 903, Updated: 1702354762111_000_000},
	}, order)
}

func TestOperatorOfTheSmallestIntegerIsNone(t *testing.T) {
	order, _, err := exchange.ParseOrder(fixtureRecords(t, "orders_open_2025.json")[1], wireCatalog(t))
	require.NoError(t, err)
	require.Zero(t, order.OperatorID)
	require.Equal(t, market.Price(400_000), order.Price) // 0.00004 at ten decimals
}

// plainOrder is a resting limit order with every member that such an order can have.
func plainOrder() market.Order {
	return market.Order{
		ID: 9, Strategy: 1, Tag: "entry", ExchangeID: uuid.UUID{1}, ClientOrderID: uuid.UUID{2}, OperatorID: 77,
		Market: 1, CodGroupID: 12,
		Side: market.Buy, Type: market.TypeLimit, Visible: true,
		FeeCurrency:    1,
		OnHoldCurrency: 1,
		Created:        1702354762111222333,
		OrderState: market.OrderState{Status: market.StatusPartiallyFilled, TimeInForce: market.GTC,
			SelfTradePrevention: market.CancelOldest, PostOnly: true, Price: 3_000_050, Amount: 30_000,
			AmountRemaining: 10_000, OnHold: 302, FilledAmount: 20_000,
			FilledAmountQuote: market.ValueOf(60_001_000_000), FeePaid: market.ValueOf(-99_000_000),
			Updated: 1702354762999888777},
	}
}

func TestOrderIsWrittenInTheSpecificationsOrderAndUnits(t *testing.T) {
	order := plainOrder()
	fills := []market.Fill{
		{ID: uuid.UUID{3}, Price: 3_000_050, Amount: 20_000, Taker: true, Settled: true,
			Fee: market.ValueOf(-99_000_000), Time: 1702354762111222333},
		{ID: uuid.UUID{4}, Price: 3_000_000, Amount: 1, Fee: market.ValueOf(5), Time: 1702354762112000000},
	}
	require.Equal(t, `{"orderId":"01000000-0000-0000-0000-000000000000","clientOrderId":"02000000-0000-0000-0000-000000000000","market":"BTC-EUR",`+
		`"created":1702354762111,"updated":1702354762999,"createdNs":1702354762111222000,"updatedNs":1702354762999888000,`+
		`"status":"partiallyFilled","side":"buy","orderType":"limit","amount":"0.0003","amountRemaining":"0.0001","price":"30000.5",`+
		`"onHold":"3.02","onHoldCurrency":"EUR","filledAmount":"0.0002","filledAmountQuote":"6.0001","feePaid":"-0.0099","feeCurrency":"EUR",`+
		`"fills":[{"id":"03000000-0000-0000-0000-000000000000","timestamp":1702354762111,"amount":"0.0002","price":"30000.5","taker":true,"fee":"-0.0099","feeCurrency":"EUR","settled":true},`+
		`{"id":"04000000-0000-0000-0000-000000000000","timestamp":1702354762112,"amount":"0.00000001","price":"30000","taker":false,"settled":false}],`+
		`"selfTradePrevention":"cancelOldest","visible":true,"timeInForce":"GTC","postOnly":true,"disableMarketProtection":false,"operatorId":77,"codGroupId":12}`,
		string(exchange.AppendOrder(nil, wireCatalog(t), &order, fills)))
}

func TestMembersArePresentByTheSpecificationsConditions(t *testing.T) {
	always := []string{"orderId", "market", "created", "updated", "createdNs", "updatedNs", "status", "side",
		"orderType", "onHold", "onHoldCurrency", "filledAmount",
		"filledAmountQuote", "feePaid", "feeCurrency", "fills", "selfTradePrevention", "visible", "timeInForce",
		"postOnly", "disableMarketProtection", "operatorId"}
	base, quote := []string{"amount", "amountRemaining"}, []string{"amountQuote", "amountQuoteRemaining"}
	trigger := []string{"triggerPrice", "triggerAmount", "triggerType", "triggerReference"}
	cases := []struct {
		name  string
		order market.Order
		want  [][]string
	}{
		{"limit", market.Order{Type: market.TypeLimit, OrderState: market.OrderState{Amount: 1, Price: 1}},
			[][]string{base, {"price"}}},
		{"market by amount", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: 1}},
			[][]string{base}},
		{"market by amountQuote", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{AmountQuote: 1}},
			[][]string{quote}},
		{"stopLoss", market.Order{Type: market.TypeStopLoss,
			OrderState: market.OrderState{Amount: 1, TriggerAmount: 1}}, [][]string{base, trigger}},
		{"stopLoss by amountQuote",
			market.Order{Type: market.TypeStopLoss, OrderState: market.OrderState{AmountQuote: 1, TriggerAmount: 1}},
			[][]string{quote, trigger}},
		{"stopLossLimit", market.Order{Type: market.TypeStopLossLimit,
			OrderState: market.OrderState{Amount: 1, Price: 1, TriggerAmount: 1}},
			[][]string{base, {"price"}, trigger}},
		{"takeProfit", market.Order{Type: market.TypeTakeProfit,
			OrderState: market.OrderState{Amount: 1, TriggerAmount: 1}}, [][]string{base, trigger}},
		{"takeProfit with a price",
			market.Order{Type: market.TypeTakeProfit,
				OrderState: market.OrderState{Amount: 1, TriggerAmount: 1, Price: 1}},
			[][]string{base, {"price"}, trigger}},
		{"takeProfitLimit", market.Order{Type: market.TypeTakeProfitLimit,
			OrderState: market.OrderState{Amount: 1, Price: 1, TriggerAmount: 1}},
			[][]string{base, {"price"}, trigger}},
		{"client id", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: 1},
			ClientOrderID: uuid.UUID{1}}, [][]string{base, {"clientOrderId"}}},
		{"group", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: 1}, CodGroupID: 5},
			[][]string{base, {"codGroupId"}}},
		{"restated", market.Order{Type: market.TypeMarket,
			OrderState: market.OrderState{Amount: 1, RestatementReason: market.CancelPostOnly}},
			[][]string{base, {"restatementReason"}}},
	}
	for _, c := range cases {
		c.order.Market, c.order.Side, c.order.Status = 1, market.Sell, market.StatusNew
		c.order.TimeInForce, c.order.SelfTradePrevention = market.GTC, market.DecrementAndCancel
		c.order.TriggerType, c.order.TriggerReference = market.TriggerPrice, market.LastTrade
		want := slices.Concat(append(c.want, always)...)
		var have []string
		for key := range members(t, exchange.AppendOrder(nil, wireCatalog(t), &c.order, nil)) {
			have = append(have, key)
		}
		require.ElementsMatch(t, want, have, c.name)
	}
}

func TestAListShowsTheClientOrderIDOfTheLatestOrderAlone(t *testing.T) {
	cat, order := wireCatalog(t), plainOrder()
	require.Equal(t, string(exchange.AppendOrder(nil, cat, &order, nil)),
		string(exchange.AppendListed(nil, cat, &order, nil, true)))
	earlier := members(t, exchange.AppendListed(nil, cat, &order, nil, false))
	require.Contains(t, earlier, "clientOrderId")
	require.Nil(t, earlier["clientOrderId"])
	order.ClientOrderID = uuid.Nil
	require.NotContains(t, members(t, exchange.AppendListed(nil, cat, &order, nil, false)), "clientOrderId",
		"none was set")
}

func TestTheShortObjectHasTheFieldsOfSpecification44(t *testing.T) {
	cat, order := wireCatalog(t), plainOrder()
	require.Equal(t, `{"orderId":"01000000-0000-0000-0000-000000000000","clientOrderId":"02000000-0000-0000-0000-000000000000","market":"BTC-EUR",`+
		`"created":1702354762111,"updated":1702354762999,"createdNs":1702354762111222000,"updatedNs":1702354762999888000}`,
		string(exchange.AppendShortOrder(nil, cat, &order)))
}

func TestHeldCurrencyFollowsTheSideWhereItIsNotSet(t *testing.T) {
	cat := wireCatalog(t)
	for side, want := range map[market.Side]string{market.Buy: "EUR", market.Sell: "BTC"} {
		order := market.Order{Market: 1, Side: side, Type: market.TypeLimit, OrderState: market.OrderState{OnHold: 150}}
		require.Equal(t, want, members(t, exchange.AppendOrder(nil, cat, &order, nil))["onHoldCurrency"])
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	cat := wireCatalog(t)
	rapid.Check(t, func(t *rapid.T) {
		order := drawOrder(t)
		fills := drawFills(t, &order)
		got, gotFills, err := exchange.ParseOrder(exchange.AppendOrder(nil, cat, &order, fills), cat)
		require.NoError(t, err)
		require.Equal(t, order, got)
		require.Equal(t, fills, gotFills)
	})
}

func drawOrder(t *rapid.T) market.Order {
	amount := rapid.Int64Range(0, 1<<62)
	o := market.Order{
		ExchangeID: drawUUID(t), OperatorID: rapid.Int64Min(0).Draw(t,
			"operator"), Market: market.ID(rapid.IntRange(1, 3).Draw(t, "market")),
		CodGroupID: rapid.Uint16Max(1000).Draw(t, "group"), Side: market.Side(rapid.IntRange(1, 2).Draw(t, "side")),
		Type: market.OrderType(rapid.IntRange(1, 6).Draw(t, "type")), FeeCurrency: 1,
		OnHoldCurrency: 1,
		Created:        market.Time(rapid.Int64Range(0, 1<<53).Draw(t, "created") * 1000),
		OrderState: market.OrderState{Status: market.Status(rapid.IntRange(1, 7).Draw(t, "status")),
			TimeInForce: market.TimeInForce(rapid.IntRange(1, 3).
				Draw(t, "time in force")), RestatementReason: market.RestatementReason(rapid.IntRange(0, 13).
				Draw(t, "reason")), SelfTradePrevention: market.SelfTradePrevention(rapid.IntRange(1, 4).
				Draw(t, "self trade")), PostOnly: rapid.Bool().Draw(t, "post only"),
			OnHold: market.Money(amount.Draw(t, "hold")), FilledAmount: market.Qty(amount.Draw(t, "filled")),
			FilledAmountQuote: market.ValueOf(rapid.Int64().
				Draw(t, "filled quote")), FeePaid: market.ValueOf(rapid.Int64().Draw(t, "fee")),
			Updated: market.Time(rapid.Int64Range(0, 1<<53).Draw(t, "updated") * 1000)},
	}
	if rapid.Bool().Draw(t, "by quote") {
		o.AmountQuote, o.AmountQuoteRemaining = market.Money(1+amount.Draw(t, "quote")), market.Money(amount.Draw(t,
			"quote left"))
	} else {
		o.Amount, o.AmountRemaining = market.Qty(amount.Draw(t, "amount")), market.Qty(amount.Draw(t, "left"))
	}
	if o.Type.HasPrice() {
		o.Price = market.Price(amount.Draw(t, "price"))
	}
	if o.Type.HasTrigger() {
		o.TriggerAmount, o.TriggerType = market.Price(amount.Draw(t, "trigger")), market.TriggerPrice
		o.TriggerReference = market.TriggerReference(rapid.IntRange(1, 4).Draw(t, "reference"))
		waiting := o.Status == market.StatusAwaitingTrigger || o.Status == market.StatusCanceled ||
			o.Status == market.StatusUnresolved
		o.Triggered = !waiting || o.FilledAmount > 0
	}
	return o
}

func drawFills(t *rapid.T, o *market.Order) []market.Fill {
	var fills []market.Fill
	for range rapid.IntRange(0, 3).Draw(t, "fills") {
		f := market.Fill{
			ID: drawUUID(t), Market: o.Market, Side: o.Side, Taker: rapid.Bool().
				Draw(t, "taker"), Settled: rapid.Bool().Draw(t, "settled"),
			Price: market.Price(rapid.Int64Min(0).Draw(t, "fill price")), Amount: market.Qty(rapid.Int64Min(0).
				Draw(t, "fill amount")),
			Time: market.Time(rapid.Int64Range(0, 1<<42).Draw(t, "fill time") * 1_000_000),
		}
		if f.Settled {
			f.Fee, f.FeeCurrency = market.ValueOf(rapid.Int64().Draw(t, "fill fee")), 1
		}
		fills = append(fills, f)
	}
	return fills
}

func drawUUID(t *rapid.T) uuid.UUID {
	return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid"))
}

func TestAppendOrderDoesNotAllocate(t *testing.T) {
	cat, order := wireCatalog(t), plainOrder()
	fills := []market.Fill{{Price: 3_000_050, Amount: 20_000, Settled: true, Fee: market.ValueOf(99)}}
	buffer := make([]byte, 0, 2048)
	require.Zero(t, testing.AllocsPerRun(100, func() { buffer = exchange.AppendOrder(buffer[:0], cat, &order, fills) }))
}

func ExampleAppendOrder() {
	var cat market.Catalog
	cat.AddAsset("EUR", 2)
	cat.AddAsset("BTC", 8)
	btc := market.Market{Name: "BTC-EUR", PriceDigits: 0}
	cat.AddMarket(&btc)
	order := market.Order{Market: btc.ID, Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Status: market.StatusNew, Price: 30000, Amount: 30000}}
	record := exchange.AppendOrder(nil, &cat, &order, nil)
	again, _, err := exchange.ParseOrder(record, &cat)
	fmt.Println(again.Side, btc.FormatQty(again.Amount), "@", btc.FormatPrice(again.Price), err)
	// Output: buy 0.0003 @ 30000 <nil>
}
