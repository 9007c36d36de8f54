package exchange_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// ruled is a market with every rule set, in units of cents and 10^-8: tick 0.5, three decimals of
// amount and one of amountQuote, orders of 0.01 to 50 and of 5 to 10,000 EUR.
func ruled(t testing.TB) *market.Market {
	m := feeMarket(t, 2, 8, 2)
	m.TickSize, m.QuantityDecimals, m.NotionalDecimals = 50, 3, 1
	m.MinOrderInBase, m.MaxOrderInBase = 1e6, 50e8
	m.MinOrderInQuote, m.MaxOrderInQuote = 5_00, 10_000_00
	m.MaxOpenOrders = 3
	return m
}

// plenty is an account that can pay for anything, at a price of 100.
func plenty() exchange.Facts { return exchange.Facts{Reference: 100_00, Available: 1e18} }

func limit() market.Order {
	return market.Order{ID: 1, Market: 1, Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{TimeInForce: market.GTC, Price: 100_00, Amount: 1e8, AmountRemaining: 1e8}}
}

// typed returns an order of another type, with trigger 110 where it needs one.
func typed(kind market.OrderType) market.Order {
	o := limit()
	o.Type = kind
	if kind.HasTrigger() {
		o.TriggerAmount, o.TriggerReference = 110_00, market.LastTrade
	}
	if !kind.HasPrice() {
		o.Price = 0
	}
	return o
}

func sized(o market.Order, amount market.Qty) market.Order {
	o.Amount, o.AmountRemaining = amount, amount
	return o
}

func quoted(o market.Order, money market.Money) market.Order {
	o = sized(o, 0)
	o.AmountQuote, o.AmountQuoteRemaining = money, money
	return o
}

func with(o market.Order, change func(*market.Order)) market.Order {
	change(&o)
	return o
}

func TestEveryTypeOfOrderCanBePlaced(t *testing.T) {
	for kind := market.TypeMarket; kind <= market.TypeTakeProfitLimit; kind++ {
		o, facts := typed(kind), plenty()
		hold, refused := exchange.CheckPlace(ruled(t), &o, &facts)
		require.Nil(t, refused, kind)
		require.Positive(t, hold, kind)
		if !kind.HasPrice() {
			o = quoted(o, 50_00)
			_, refused = exchange.CheckPlace(ruled(t), &o, &facts)
			require.Nil(t, refused, "%s by quote amount", kind)
		}
	}
}

func TestNewOrdersAreRefusedWithTheExchangesCode(t *testing.T) {
	cases := []struct {
		name  string
		order market.Order
		code  int
	}{
		{"a limit without a price", with(limit(), func(o *market.Order) { o.Price = 0 }), 203},
		{"a limit without an amount", sized(limit(), 0), 203},
		{"a limit with a quote amount", with(limit(), func(o *market.Order) { o.AmountQuote = 50_00 }), 202},
		{"a market order without any amount", sized(typed(market.TypeMarket), 0), 203},
		{"a market order with both amounts",
			with(typed(market.TypeMarket), func(o *market.Order) { o.AmountQuote = 50_00 }), 206},
		{"a market order with a price", with(limit(), func(o *market.Order) { o.Type = market.TypeMarket }), 202},
		{"a market order that is post-only",
			with(typed(market.TypeMarket), func(o *market.Order) { o.PostOnly = true }), 202},
		{"a market order in a cancel group", with(typed(market.TypeMarket), func(o *market.Order) { o.CodGroupID = 1 }),
			202},
		{"a stop without a trigger", with(typed(market.TypeStopLoss), func(o *market.Order) { o.TriggerAmount = 0 }),
			237},
		{"a take-profit without a trigger",
			with(typed(market.TypeTakeProfit), func(o *market.Order) { o.TriggerAmount = 0 }), 237},
		{"a stop limit without a trigger",
			with(typed(market.TypeStopLossLimit), func(o *market.Order) { o.TriggerAmount = 0 }), 238},
		{"a take-profit limit without a trigger",
			with(typed(market.TypeTakeProfitLimit), func(o *market.Order) { o.TriggerAmount = 0 }), 238},
		{"a limit with a trigger", with(limit(), func(o *market.Order) { o.TriggerAmount = 110_00 }), 202},
		{"a market order with a trigger",
			with(typed(market.TypeMarket), func(o *market.Order) { o.TriggerAmount = 110_00 }), 202},
		{"a stop limit without a price", with(typed(market.TypeStopLossLimit), func(o *market.Order) { o.Price = 0 }),
			203},
		{"a stop that is post-only", with(typed(market.TypeStopLoss), func(o *market.Order) { o.PostOnly = true }),
			202},
		{"a negative amount", sized(limit(), -1e8), 205},
		{"a negative quote amount", quoted(typed(market.TypeMarket), -50_00), 205},
		{"a negative price", with(limit(), func(o *market.Order) { o.Price = -100_00 }), 205},
		{"a negative trigger", with(typed(market.TypeStopLoss), func(o *market.Order) { o.TriggerAmount = -100_00 }),
			205},
		{"a cancel group above 1000", with(limit(), func(o *market.Order) { o.CodGroupID = 1001 }), 205},
		{"a fourth decimal of amount", sized(limit(), 1.0001e8), 429},
		{"a second decimal of quote amount", quoted(typed(market.TypeMarket), 50_05), 429},
		{"a price between ticks", with(limit(), func(o *market.Order) { o.Price = 100_25 }), 422},
		{"a trigger between ticks",
			with(typed(market.TypeStopLoss), func(o *market.Order) { o.TriggerAmount = 110_01 }), 422},
		{"less than the smallest base", sized(with(limit(), func(o *market.Order) { o.Price = 9_000_00 }), 9e5), 212},
		{"less than the smallest value", sized(limit(), 4.9e6), 217},
		{"less than the smallest value at the reference price", sized(typed(market.TypeMarket), 4.9e6), 217},
		{"less than the smallest value at the trigger price", sized(typed(market.TypeStopLoss), 4.5e6), 217},
		{"less than the smallest quote amount", quoted(typed(market.TypeMarket), 4_90), 217},
		{"more than the largest base", sized(with(limit(), func(o *market.Order) { o.Price = 1_00 }), 50.001e8), 210},
		{"more than the largest value", sized(with(limit(), func(o *market.Order) { o.Price = 1_000_00 }), 10.001e8),
			210},
		{"more than the largest quote amount", quoted(typed(market.TypeMarket), 10_000_10), 210},
		{"a price above that of any market",
			sized(with(limit(), func(o *market.Order) { o.Price = 100_000_000_000_50 }), 1e6), 211},
		{"a trigger above that of any market",
			with(typed(market.TypeStopLoss), func(o *market.Order) { o.TriggerAmount = 100_000_000_000_50 }), 211},
	}
	for _, c := range cases {
		facts := plenty()
		_, refused := exchange.CheckPlace(ruled(t), &c.order, &facts)
		require.NotNil(t, refused, c.name)
		require.Equal(t, c.code, refused.Code, c.name)
	}
}

func TestLimitsThemselvesAreAllowed(t *testing.T) {
	cases := map[string]market.Order{
		"the smallest value":        sized(limit(), 5e6),
		"the smallest quote amount": quoted(typed(market.TypeMarket), 5_00),
		"the largest base":          sized(with(limit(), func(o *market.Order) { o.Price = 1_00 }), 50e8),
		"the largest value":         sized(with(limit(), func(o *market.Order) { o.Price = 1_000_00 }), 10e8),
		"the largest quote amount":  quoted(typed(market.TypeMarket), 10_000_00),
		"the smallest base":         sized(with(limit(), func(o *market.Order) { o.Price = 500_00 }), 1e6),
		// 4.70 at the reference price, 5.17 at the trigger's
		"a value at the trigger": sized(typed(market.TypeStopLoss), 4.7e6),
		"the largest group":      with(limit(), func(o *market.Order) { o.CodGroupID = 1000 }),
	}
	for name, o := range cases {
		facts := plenty()
		_, refused := exchange.CheckPlace(ruled(t), &o, &facts)
		require.Nil(t, refused, name)
	}
}

func TestAMarketWithoutRulesStillHasTheLargestAmountAndPrice(t *testing.T) {
	m := feeMarket(t, 2, 8, 2)
	facts := plenty()
	o := sized(with(limit(), func(o *market.Order) { o.Price = 1 }), 1e17+1) // 10^9 and one unit
	_, refused := exchange.CheckPlace(m, &o, &facts)
	require.Equal(t, exchange.CodeAmountTooLarge, refused.Code)
	o = sized(o, 1e17)
	_, refused = exchange.CheckPlace(m, &o, &facts)
	require.Nil(t, refused)
	o = sized(with(limit(), func(o *market.Order) { o.Price = 1e13 }), 1)
	_, refused = exchange.CheckPlace(m, &o, &facts)
	require.Nil(t, refused, "10^11 itself is allowed")
}

// With eight decimals 10^11 is more than an int64 holds: the last prices that fit leave no room for
// a spread on top.
func TestAPriceLeavesRoomForASpread(t *testing.T) {
	m, facts := feeMarket(t, 8, 8, 2), plenty()
	o := sized(with(limit(), func(o *market.Order) { o.Price = 1<<62 - 1 }), 1)
	_, refused := exchange.CheckPlace(m, &o, &facts)
	require.Nil(t, refused)
	o.Price++
	_, refused = exchange.CheckPlace(m, &o, &facts)
	require.Equal(t, exchange.CodePriceTooLarge, code(refused))
}

func TestAMarketThatNeverTradedHasNoValueToCompare(t *testing.T) {
	o, facts := sized(typed(market.TypeMarket), 1e6), exchange.Facts{Available: 1e18}
	_, refused := exchange.CheckPlace(ruled(t), &o, &facts)
	require.Nil(t, refused)
}

func TestOpenOrdersAreCountedButNotForMarketOrders(t *testing.T) {
	facts := plenty()
	facts.Open = 3
	o := limit()
	_, refused := exchange.CheckPlace(ruled(t), &o, &facts)
	require.Equal(t, exchange.CodeTooManyOpenOrders, refused.Code)
	o = typed(market.TypeMarket)
	_, refused = exchange.CheckPlace(ruled(t), &o, &facts)
	require.Nil(t, refused)
	m := ruled(t)
	m.MaxOpenOrders = 0 // no limit known
	o = limit()
	_, refused = exchange.CheckPlace(m, &o, &facts)
	require.Nil(t, refused)
}

func TestBalanceHasToCoverTheHoldToTheLastUnit(t *testing.T) {
	facts := exchange.Facts{Reference: 100_00, Available: 100_25, Fees: exchange.Fees{Maker: 150_000, Taker: 250_000}}
	o := limit()
	hold, refused := exchange.CheckPlace(ruled(t), &o, &facts)
	require.Nil(t, refused)
	require.Equal(t, market.Money(100_25), hold)
	facts.Available--
	_, refused = exchange.CheckPlace(ruled(t), &o, &facts)
	require.Equal(t, exchange.CodeInsufficientBalance, refused.Code)
}

// Specification 3.2, a row for each status: a limit order, a limit order with IOC, a market order,
// a stop, an update, a cancel.
func TestMarketStatusDecidesWhatIsAllowed(t *testing.T) {
	cases := []struct {
		status                                        market.MarketStatus
		limit, ioc, market, stop, updating, canceling int
	}{
		{market.Trading, 0, 0, 0, 0, 0, 0},
		{market.Halted, 423, 423, 423, 423, 423, 423},
		{market.CancelOnly, 424, 424, 424, 424, 424, 0},
		{market.Auction, 0, 231, 425, 0, 0, 0},
		{market.AuctionMatching, 426, 426, 426, 426, 426, 0},
	}
	for _, c := range cases {
		m, facts := ruled(t), plenty()
		m.Status = c.status
		place := func(o market.Order) int {
			_, refused := exchange.CheckPlace(m, &o, &facts)
			return code(refused)
		}
		require.Equal(t, c.limit, place(limit()), c.status)
		require.Equal(t, c.ioc, place(with(limit(), func(o *market.Order) { o.TimeInForce = market.IOC })), c.status)
		require.Equal(t, c.market, place(typed(market.TypeMarket)), c.status)
		require.Equal(t, c.stop, place(typed(market.TypeStopLoss)), c.status)
		old, changed := limit(), market.Order{}
		require.Equal(t, c.updating, code(exchange.CheckUpdate(m, &old, price(99_00), &facts, &changed)), c.status)
		require.Equal(t, c.canceling, code(exchange.CheckCancel(m)), c.status)
		if c.status == market.Auction { // a change to IOC is held to the rule of a new order
			impatient := market.Command{Changed: market.ChangeTimeInForce,
				Order: market.Order{OrderState: market.OrderState{TimeInForce: market.IOC}}}
			require.Equal(t, exchange.CodeTimeInForce,
				code(exchange.CheckUpdate(m, &old, &impatient, &facts, &changed)))
		}
	}
}

func code(refused *exchange.Error) int {
	if refused == nil {
		return 0
	}
	return refused.Code
}

func ExampleCheckPlace() {
	catalog := &market.Catalog{}
	catalog.AddAsset("BTC", 8)
	catalog.AddAsset("EUR", 2)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, Rules: market.Rules{TickSize: 100, QuantityDecimals: 8}}
	catalog.AddMarket(m)
	o := market.Order{Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{TimeInForce: market.GTC, Price: 40000_50, Amount: 1e6, AmountRemaining: 1e6}}
	_, refused := exchange.CheckPlace(m, &o, &exchange.Facts{Available: 500_00})
	fmt.Println(refused.Code)
	o.Price = 40000_00
	hold, refused := exchange.CheckPlace(m, &o, &exchange.Facts{Available: 500_00})
	fmt.Println(m.FormatMoney(hold), refused == nil)
	// Output:
	// 422
	// 400 true
}

func TestAPortionLeavesNoUnsellableRest(t *testing.T) {
	catalog := &market.Catalog{}
	for _, symbol := range []string{"ADA", "EUR"} {
		_, err := catalog.AddAsset(symbol, 2)
		require.NoError(t, err)
	}
	m := &market.Market{Name: "ADA-EUR", PriceDigits: 2}
	m.QuantityDecimals, m.NotionalDecimals, m.TickSize = 1, 2, 1
	require.NoError(t, catalog.AddMarket(m))
	for _, c := range []struct {
		name   string
		base   market.Qty
		quote  market.Money
		amount market.Qty
		want   []market.Qty
	}{
		{name: "it fits", base: 100_000, amount: 100_000, want: []market.Qty{100_000}},
		{name: "a little more is halves, not a rest", base: 100_000, amount: 100_010,
			want: []market.Qty{50_010, 50_000}},
		{name: "three", base: 100_000, amount: 250_000, want: []market.Qty{83_340, 83_330, 83_330}},
		{name: "by value", quote: 60_000, amount: 100_000, want: []market.Qty{50_000, 50_000}},
		{name: "no market takes more than a billion", amount: 160_000_000_000,
			want: []market.Qty{80_000_000_000, 80_000_000_000}},
	} {
		m.MaxOrderInBase, m.MaxOrderInQuote = c.base, c.quote
		var got []market.Qty
		for left := c.amount; left > 0 && len(got) < 9; {
			got = append(got, exchange.Portion(m, left, 100))
			left -= got[len(got)-1]
		}
		require.Equal(t, c.want, got, c.name)
	}
}
