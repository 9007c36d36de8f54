package engine_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// crossTwin works out with big numbers what changes hands of the orders of a step at one price.
type crossTwin struct {
	market *market.Market
	price  *big.Int
	cent   *big.Int // in units of price × amount
	before []*twinOrder
	lines  []string // "3 to 6: amount @ price"
}

type twinOrder struct {
	market.Order
	left *big.Int // of base, or of quote
}

func bigs(n int64) *big.Int { return big.NewInt(n) }

func tens(n uint8) *big.Int { return new(big.Int).Exp(bigs(10), bigs(int64(n)), nil) }

func newCrossTwin(m *market.Market, price market.Price) *crossTwin {
	return &crossTwin{market: m, price: bigs(int64(price)), cent: tens(m.PriceDigits + m.AmountDigits - m.QuoteDigits)}
}

// order adds the next order: it meets the opposite ones of other strategies, in their order.
func (w *crossTwin) order(o *market.Order) {
	next := &twinOrder{*o, bigs(int64(o.Amount) + int64(o.AmountQuote))}
	for _, other := range w.before {
		if other.Side != o.Side && other.Strategy != o.Strategy {
			w.meet(next, other)
		}
	}
	w.before = append(w.before, next)
}

func (w *crossTwin) meet(one, other *twinOrder) {
	amount := w.base(one)
	if base := w.base(other); base.Cmp(amount) < 0 {
		amount = base
	}
	lot := tens(w.market.AmountDigits - w.market.QuantityDecimals)
	if amount.Div(amount, lot).Mul(amount, lot).Sign() == 0 {
		return
	}
	sell, buy := one, other
	if one.Side == market.Buy {
		sell, buy = other, one
	}
	w.lines = append(w.lines, fmt.Sprintf("%d to %d: %s @ %s", sell.ID, buy.ID, amount, w.price))
	w.take(one, amount)
	w.take(other, amount)
}

// base is what is left of an order in base.
func (w *crossTwin) base(o *twinOrder) *big.Int {
	if !o.ByQuote() {
		return new(big.Int).Set(o.left)
	}
	base := new(big.Int).Mul(o.left, w.cent)
	return base.Div(base, w.price)
}

// money is what an amount is worth, in cents, rounded up.
func (w *crossTwin) money(amount *big.Int) *big.Int {
	cents, rest := new(big.Int).QuoRem(new(big.Int).Mul(amount, w.price), w.cent, new(big.Int))
	return cents.Add(cents, bigs(int64(rest.Sign())))
}

// take takes an amount from an order; a rest below the minimum is given up.
func (w *crossTwin) take(o *twinOrder, amount *big.Int) {
	if o.ByQuote() {
		o.left.Sub(o.left, w.money(amount))
	} else {
		o.left.Sub(o.left, amount)
	}
	small := !o.ByQuote() && o.left.Cmp(bigs(int64(w.market.MinOrderInBase))) < 0
	worth := new(big.Int).Mul(o.left, w.price)
	if o.ByQuote() {
		worth.Mul(o.left, w.cent)
	}
	if small || worth.Cmp(new(big.Int).Mul(bigs(int64(w.market.MinOrderInQuote)), w.cent)) < 0 {
		o.left.SetInt64(0)
	}
}

// ledgers are the sums over all strategies that a cross must not change.
func ledgers(b *bench) (sums []string) {
	for _, asset := range b.catalog.Assets() {
		sums = append(sums, fmt.Sprint(b.account.Total(asset.ID).Total))
	}
	base, cash := bigs(0), bigs(0)
	for s := range b.account.Strategies() + 1 {
		p := b.account.Position(market.StrategyID(s), 1)
		base.Add(base, bigs(int64(p.Amount)))
		cash.Add(cash, valueUnits(b.t, p.Realised))
		cash.Sub(cash, valueUnits(b.t, p.Cost))
	}
	return append(sums, base.String(), cash.String())
}

func valueUnits(t testing.TB, v market.Value) *big.Int {
	text, err := v.MarshalText()
	require.NoError(t, err)
	units, ok := new(big.Int).SetString(string(text), 10)
	require.True(t, ok)
	return units
}

// taking asks on each candle for what draw says, up to the kind 0. It sells its position at most.
type taking struct {
	strategy.Base
	draw func() (kind, amount int)
}

func (s *taking) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	free := m.Position().Amount
	for kind, amount := s.draw(); kind > 0; kind, amount = s.draw() {
		base := market.Qty(amount) * btc / 10_000
		switch kind {
		case 1, 2:
			_, _ = m.Buy(strategy.Amount(base))
		case 3, 4:
			base = min(base, free)
			if _, err := m.Sell(strategy.Amount(base)); err == nil {
				free -= base
			}
		case 5:
			_, _ = m.Buy(strategy.Money(market.Money(amount)))
		case 6:
			_, _ = m.Buy(strategy.Amount(base), strategy.At(c.Close/2))
		}
	}
}

// crossWatch holds each step of a bench against the twin.
type crossWatch struct {
	crosses
	bench *bench
	sums  []string // before the first cross of a step
	count int
}

func (w *crossWatch) Approved(asked state.Terms, c *market.Command, figures []state.Figure) {
	w.sums = ledgers(w.bench)
	w.crosses.Approved(asked, c, figures)
}

// step compares a step: what crossed, what leaves, and that no sum has changed.
func (w *crossWatch) step(commands []market.Command) {
	t, m := w.bench.t, w.bench.catalog.Market(1)
	twin := newCrossTwin(m, w.bench.account.Last(1))
	for i := range w.passed {
		twin.order(&w.passed[i])
	}
	var lines []string
	for i := range w.all {
		lines = append(lines, w.line(&w.all[i]))
	}
	require.Equal(t, twin.lines, lines)
	leaves := map[market.OrderID]int64{}
	for i := range commands {
		if o := &commands[i].Order; o.Type == market.TypeMarket {
			leaves[o.ID] = int64(o.Amount) + int64(o.AmountQuote)
			own := w.bench.account.Own(o.ID)
			require.Equal(t, own.Amount, o.Amount)
			require.Equal(t, own.AmountQuote, o.AmountQuote)
		}
	}
	for _, o := range twin.before {
		require.Equal(t, o.left.Int64(), leaves[o.ID], "order %d", o.ID)
	}
	if w.count += len(w.all); len(w.passed) > 0 {
		require.Equal(t, w.sums, ledgers(w.bench))
	}
	w.passed, w.all = nil, nil
}

// line is a cross in the twin's words, by the orders of which its legs are parts.
func (w *crossWatch) line(c *state.Cross) string {
	ids := [2]market.OrderID{}
	for i, leg := range c.Legs() {
		if ids[i] = leg.Of; leg.Of == 0 {
			ids[i] = leg.Fill.Order
		}
	}
	require.Equal(w.bench.t, valueUnits(w.bench.t, c.Sell.Fill.Fee), valueUnits(w.bench.t, c.Buy.Fill.Fee.Neg()))
	require.Equal(w.bench.t, c.Sell.Fill.Amount, c.Buy.Fill.Amount)
	return fmt.Sprintf("%d to %d: %d @ %d", ids[0], ids[1], c.Sell.Fill.Amount, c.Sell.Fill.Price)
}

// Whatever is asked, a naive twin crosses the same, and no sum over the strategies changes.
func TestACrossIsWhatANaiveTwinSays(t *testing.T) {
	count := 0
	rapid.Check(t, func(r *rapid.T) {
		w := &crossWatch{}
		draw := func() (kind, amount int) {
			return rapid.IntRange(0, 6).Draw(r, "kind"), rapid.IntRange(1, 30_000).Draw(r, "amount")
		}
		slots := []engine.Slot{{Strategy: &taking{draw: draw}}, {Strategy: &taking{draw: draw}},
			{Strategy: &taking{draw: draw}}}
		w.bench = newBench(t, setup{observer: w, slots: slots,
			account: risk.AccountLimits{CrossOpposite: true, AllowSelfCross: true}})
		w.bench.deposit(1, 1_000_000_000*eur)
		rules := &w.bench.catalog.Market(1).Rules
		rules.QuantityDecimals, rules.MinOrderInBase, rules.MinOrderInQuote = 4, btc/100, 5*eur
		w.bench.after = w.step
		for range 6 {
			price := market.Price(rapid.IntRange(3_000, 30_000).Draw(r, "price"))
			c := candleOf(1, 1, 1, 1, 1)
			c.Open, c.High, c.Low, c.Close = price, price, price, price
			w.bench.group(c)
		}
		count += w.count
	})
	require.Greater(t, count, 20)
}
