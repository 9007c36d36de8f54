package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// crosses collects what changes hands, and what the gate let pass before.
type crosses struct {
	passed []market.Order
	all    []state.Cross
	closed []market.OrderID
}

func (c *crosses) Filled(*state.Order, *market.Fill) {}

func (c *crosses) Closed(o *state.Order) { c.closed = append(c.closed, o.ID) }

func (c *crosses) Crossed(x *state.Cross) { c.all = append(c.all, *x) }

func (c *crosses) Approved(_ state.Terms, command *market.Command, _ []state.Figure) {
	if command.Kind == market.CommandPlace && command.Order.Type == market.TypeMarket {
		c.passed = append(c.passed, command.Order)
	}
}

// words says what changed hands: "2 sells 1 @ 100 to 1", with the order of which a leg is a part.
func (c *crosses) words() (lines []string) {
	of := func(l *state.CrossLeg) string {
		if l.Of != 0 {
			return fmt.Sprintf("%d (part of %d)", l.Fill.Order, l.Of)
		}
		return fmt.Sprint(l.Fill.Order)
	}
	for i := range c.all {
		x := &c.all[i]
		lines = append(lines, fmt.Sprintf("%s sells %s @ %s to %s", of(&x.Sell),
			market.FormatFixed(int64(x.Sell.Fill.Amount), 8), cents(x.Sell.Fill.Price), of(&x.Buy)))
	}
	return lines
}

// ask is what a strategy of a crossing bench asks for on a candle.
type ask func(d *strategy.Desk)

// crossing is a bench with three strategies. The second one holds 5 BTC.
func crossing(t testing.TB) (b *bench, c *crosses, on func(asks ...ask)) {
	c = &crosses{}
	scripts := []*script{{}, {}, {}}
	slots := make([]engine.Slot, len(scripts))
	for i := range scripts {
		slots[i].Strategy = scripts[i]
	}
	b = newBench(t, setup{observer: c, account: risk.AccountLimits{CrossOpposite: true, AllowSelfCross: true},
		slots: slots})
	rules := &b.catalog.Market(1).Rules
	rules.QuantityDecimals, rules.MinOrderInBase, rules.MinOrderInQuote = 4, btc/100, 5*eur
	on = func(asks ...ask) {
		t.Helper()
		for i, s := range scripts {
			s.candle = nil
			if i < len(asks) && asks[i] != nil {
				s.candle = once(asks[i])
			}
		}
		b.sent, b.told, c.all = nil, nil, nil
		b.flat(1, 100)
	}
	on(nil, buys(5*btc))
	b.flat(1, 100)
	return b, c, on
}

func buys(amount market.Qty, with ...strategy.Option) ask {
	return func(d *strategy.Desk) { _, _ = d.In(1).Buy(strategy.Amount(amount), with...) }
}

func sells(amount market.Qty, with ...strategy.Option) ask {
	return func(d *strategy.Desk) { _, _ = d.In(1).Sell(strategy.Amount(amount), with...) }
}

func TestOppositeOrdersOfAStepChangeHands(t *testing.T) {
	b, c, on := crossing(t)
	on(buys(2*btc), sells(2*btc))
	require.Equal(t, []string{"3 sells 2 @ 100 to 2"}, c.words())
	require.Empty(t, b.sent, "nothing reaches the exchange")
	require.Equal(t, []market.OrderID{1, 3, 2}, c.closed)
	require.EqualValues(t, 2*btc, b.account.Position(1, 1).Amount)
	require.EqualValues(t, 3*btc, b.account.Position(2, 1).Amount)

	on(buys(3*btc), sells(btc))
	require.Equal(t, []string{"5 sells 1 @ 100 to 6 (part of 4)"}, c.words())
	require.Equal(t, []string{"buy 2"}, b.sent, "the exchange gets the rest")
	b.flat(1, 100)
	require.EqualValues(t, 5*btc, b.account.Position(1, 1).Amount)
	require.Equal(t, market.Money(10_000-700)*eur, b.account.Total(1).Total, "what was bought of the exchange")
}

func TestEachOrderMeetsThoseBeforeIt(t *testing.T) {
	b, c, on := crossing(t)
	on(buys(2*btc), func(d *strategy.Desk) {
		sells(btc)(d)
		sells(3 * btc)(d)
	}, buys(4*btc))
	require.Equal(t, []string{"3 sells 1 @ 100 to 6 (part of 2)", "7 (part of 4) sells 1 @ 100 to 2",
		"4 sells 2 @ 100 to 8 (part of 5)"}, c.words())
	require.Equal(t, []string{"buy 2"}, b.sent)
}

func TestWhatDoesNotCross(t *testing.T) {
	both := func(d *strategy.Desk) {
		sells(btc)(d)
		buys(btc)(d)
	}
	cancelled := func(d *strategy.Desk) {
		id, _ := d.In(1).Buy(strategy.Amount(btc))
		_ = d.Cancel(id)
	}
	panics := func(d *strategy.Desk) {
		buys(btc)(d)
		panic("after its ask")
	}
	closes := func(d *strategy.Desk) { _ = d.In(1).Close() }
	const one, other = "buy 1", "sell 1"
	limit := buys(btc, strategy.At(100*at1))
	exits, twap := strategy.Exits(90*at1, 0), strategy.TWAP(market.Duration(minute), 1)
	for name, row := range map[string]struct {
		asks []ask
		sent []string
	}{
		"orders of one strategy":    {[]ask{nil, both}, []string{one, other}},
		"a limit order":             {[]ask{limit, sells(btc)}, []string{"buy 1 @ 100", other}},
		"one side":                  {[]ask{buys(btc), nil, buys(btc)}, []string{one, one}},
		"an order that is to end":   {[]ask{cancelled, sells(btc)}, []string{one, other}},
		"an order of a panic":       {[]ask{panics, sells(btc)}, []string{other}},
		"a Close":                   {[]ask{buys(btc), closes}, []string{one, "sell 5"}},
		"a part of one with exits":  {[]ask{buys(2*btc, exits), sells(btc)}, []string{"buy 2", other}},
		"a part of a TWAP":          {[]ask{buys(btc, twap), sells(btc)}, []string{one, other}},
		"an order below the amount": {[]ask{buys(btc / 1000), sells(btc)}, []string{other}},
	} {
		t.Run(name, func(t *testing.T) {
			b, c, on := crossing(t)
			on(row.asks...)
			require.Empty(t, c.words())
			slices.Sort(b.sent)
			require.Equal(t, row.sent, b.sent)
		})
	}
}

// At a touch of 100.00 and 100.05 the middle is 100.02: half a cent is rounded down. The buyer pays
// the started cent, and the seller gets it.
func TestACrossIsAtTheMiddleAndItsMoneyIsWhole(t *testing.T) {
	b, c, on := crossing(t)
	touch := market.Ticker{Market: 1, Bid: 100 * at1, Ask: 100*at1 + 5, Last: 101 * at1}
	b.step(&market.Event{Kind: market.KindTicker, At: b.now, Ticker: &touch})
	on(buys(btc/10000*3333), sells(btc))
	require.Equal(t, []string{"4 (part of 3) sells 0.3333 @ 100.02 to 2"}, c.words())
	m, sell, buy := b.catalog.Market(1), &c.all[0].Sell.Fill, &c.all[0].Buy.Fill
	require.Equal(t, "33.336666", m.FormatValue(c.all[0].Buy.Report.FilledAmountQuote))
	require.Equal(t, []string{"-0.003334", "0.003334"}, []string{m.FormatValue(sell.Fee), m.FormatValue(buy.Fee)})
	require.Equal(t, "33.34", m.FormatValue(b.account.Position(1, 1).Cost))
	require.True(t, sell.Crossed && sell.Settled && !sell.Taker && sell.ID != buy.ID)
	require.EqualValues(t, 8, sell.ID.Version())

	touch = market.Ticker{Market: 1, Bid: 90 * at1, Last: 95 * at1} // no ask: the latest price
	b.step(&market.Event{Kind: market.KindTicker, At: b.now, Ticker: &touch})
	on(buys(btc/2), sells(btc/2))
	require.Equal(t, []string{"6 sells 0.5 @ 100 to 5"}, c.words(), "of the candle that came after the ticker")
}

func TestARestBelowTheMinimumIsGivenUp(t *testing.T) {
	b, c, on := crossing(t)
	on(buys(btc+btc/200), sells(btc))
	require.Equal(t, []string{"3 sells 1 @ 100 to 2"}, c.words())
	require.Empty(t, b.sent)
	on(buys(btc+4*btc/100, strategy.Exits(90*at1, 0)), sells(btc)) // 4 EUR
	require.Equal(t, []string{"5 sells 1 @ 100 to 4"}, c.words())
	require.Equal(t, []string{"stop 1 @ 90 attached"}, b.sent, "the exit of an entry that has crossed")
	b.catalog.Market(1).Status = market.Halted
	on(buys(btc), sells(btc))
	require.Empty(t, c.words(), "the gate refuses both")
}

func TestAnOrderInQuoteCrossesForItsMoney(t *testing.T) {
	b, c, on := crossing(t)
	on(func(d *strategy.Desk) { _, _ = d.In(1).Buy(strategy.Money(150 * eur)) }, sells(btc))
	require.Equal(t, []string{"3 sells 1 @ 100 to 4 (part of 2)"}, c.words())
	b.flat(1, 100)
	require.Equal(t, "150", b.catalog.Market(1).FormatValue(b.account.Position(1, 1).Cost))
	on(func(d *strategy.Desk) { _, _ = d.In(1).Buy(strategy.Money(99_99)) }, sells(btc))
	require.Equal(t, []string{"6 sells 0.9999 @ 100 to 5"}, c.words())
	require.Empty(t, b.sent, "of the sale, 0.0001 is below the minimum")
}

// Both have the amount before one of them hears of it, and what they ask for then does not cross.
func TestStrategiesHearOfACrossAsOfAnyFill(t *testing.T) {
	c := &crosses{}
	var heard journal
	buyer, seller := &script{}, &script{}
	b := newBench(t, setup{observer: c, account: risk.AccountLimits{CrossOpposite: true},
		slots: []engine.Slot{{Strategy: buyer}, {Strategy: seller}}})
	seller.candle = once(buys(btc))
	b.flat(2, 100)
	for name, s := range map[string]*script{"buyer": buyer, "seller": seller} {
		s.order = func(_ *strategy.Desk, o market.Order, r market.Report) {
			heard.add("%s: order %d %s, %s of %s", name, o.ID, o.Status, market.FormatFixed(int64(o.FilledAmount), 8),
				market.FormatFixed(int64(o.Amount), 8))
		}
		s.fill = func(d *strategy.Desk, f market.Fill) {
			heard.add("%s: fill of %d, has %s", name, f.Order,
				market.FormatFixed(int64(d.In(1).Position().Amount), 8))
		}
	}
	fill := seller.fill
	seller.fill = func(d *strategy.Desk, f market.Fill) {
		fill(d, f)
		if f.Crossed {
			buys(btc / 2)(d)
		}
	}
	buyer.candle, seller.candle = once(buys(2*btc)), once(sells(btc))
	b.sent = nil
	b.flat(1, 100)
	require.Equal(t, journal{"seller: fill of 3, has 0", "seller: order 3 filled, 1 of 1", "buyer: fill of 4, has 1",
		"buyer: order 4 filled, 1 of 1", "buyer: order 2 , 0 of 1", "seller: order 5 , 0 of 0.5"}, heard)
	require.Equal(t, []string{"buy 1", "buy 0.5"}, b.sent)
}

func TestATakeoverOfLimitsEndsTheCrossing(t *testing.T) {
	b, c, on := crossing(t)
	next := func(cross bool) *engine.Engine {
		gate := risk.New(b.catalog, risk.Config{Strategies: make([]risk.Limits, 3),
			Account: risk.AccountLimits{Currency: 1, AllowSelfCross: true, CrossOpposite: cross}})
		return engine.New(engine.Config{Catalog: b.catalog, Account: state.NewAccount(b.catalog, 3, nil), Gate: gate,
			Slots: make([]engine.Slot, 3)})
	}
	for _, cross := range []bool{false, true} {
		_, err := b.engine.TakeOver(b.now, next(cross), nil)
		require.NoError(t, err)
		on(buys(btc), sells(btc))
		require.Equal(t, cross, len(c.all) > 0)
		require.Equal(t, cross, len(b.sent) == 0)
		b.flat(1, 100)
	}
}
