package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

func TestMoneyIsConservedWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, false)
		w.live(w.anything)
	})
}

func TestFillsLieInTheirCandle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, true)
		w.book.inCandle = true
		w.live(w.candles)
	})
}

// ledger keeps its own books from what the venue tells, and objects.
type ledger struct {
	w        *world
	inCandle bool
	base     []market.Money // by asset: what fills brought
	quote    []market.Value // by market: what fills brought, fees included
	placed   map[market.OrderID]*market.Command
	latest   map[market.OrderID]market.Report
	nominal  map[market.OrderID]market.Value // fees at their rates
	paid     map[market.OrderID]market.Value
	at       market.Time
	calm     [3]bool // by market: the venue has said that nothing will happen
}

func newLedger(w *world) *ledger {
	return &ledger{
		w: w, base: make([]market.Money, 4), quote: make([]market.Value,
			3), placed: map[market.OrderID]*market.Command{},
		latest: map[market.OrderID]market.Report{}, nominal: map[market.OrderID]market.Value{},
		paid: map[market.OrderID]market.Value{},
	}
}

// note remembers when an order was decided.
func (l *ledger) note(c *market.Command, decided market.Time) {
	if c.Kind == market.CommandPlace {
		placed := *c
		placed.At = decided
		l.placed[c.Order.ID] = &placed
	}
}

func (l *ledger) hear(ev *market.Event) {
	t := l.w.t
	require.GreaterOrEqual(t, ev.At, l.at, "time runs backwards")
	l.at = ev.At
	require.False(t, l.calm[ev.Market], "a calm candle does something")
	if ev.Report == nil || ev.Report.Exec == market.ExecRejected {
		return
	}
	l.report(ev.Report)
	for i := range ev.Fills {
		l.fill(&ev.Fills[i], ev.Report)
		l.w.react(ev.At, &ev.Fills[i])
	}
}

// next lists the statuses that may follow each (venue-facts 3.7); zero: no report yet.
var next = [...][]market.Status{
	0: {market.StatusNew, market.StatusAwaitingTrigger, market.StatusPartiallyFilled,
		market.StatusFilled, market.StatusCanceled, market.StatusExpired},
	market.StatusAwaitingTrigger: {market.StatusAwaitingTrigger, market.StatusNew, market.StatusPartiallyFilled,
		market.StatusFilled, market.StatusCanceled, market.StatusExpired},
	// expired: an update to IOC
	market.StatusNew: {market.StatusNew, market.StatusPartiallyFilled, market.StatusFilled,
		market.StatusCanceled, market.StatusExpired},
	market.StatusPartiallyFilled: {market.StatusPartiallyFilled, market.StatusFilled, market.StatusCanceled,
		market.StatusExpired},
	market.StatusFilled:   nil,
	market.StatusCanceled: nil,
	market.StatusExpired:  nil,
}

func (l *ledger) report(r *market.Report) {
	t, before := l.w.t, l.latest[r.Order]
	require.Contains(t, next[before.Status], r.Status, "order %d after %s", r.Order, before.Status)
	require.GreaterOrEqual(t, r.FilledAmount, before.FilledAmount, "order %d", r.Order)
	require.GreaterOrEqual(t, r.Updated, before.Updated, "order %d", r.Order)
	if r.AmountQuote == 0 {
		require.Equal(t, r.Amount, r.FilledAmount+r.AmountRemaining, "order %d", r.Order)
	}
	if r.Status.Terminal() {
		require.Zero(t, r.OnHold, "order %d", r.Order)
	}
	l.latest[r.Order] = *r
}

func (l *ledger) fill(f *market.Fill, r *market.Report) {
	t, command := l.w.t, l.placed[f.Order]
	m := l.w.catalog.Market(f.Market)
	require.Positive(t, f.Amount)
	require.Equal(t, command.Order.Side, f.Side)
	require.GreaterOrEqual(t, f.Time, command.At.Add(l.w.config.Latency), "order %d fills before it arrives", f.Order)
	if r.Price != 0 {
		require.True(t, crosses(f.Side, r.Price, f.Price), "order %d fills at %d, its limit is %d", f.Order, f.Price,
			r.Price)
	}
	if r.PostOnly {
		require.False(t, f.Taker, "order %d is post-only", f.Order)
	}
	if l.inCandle {
		l.within(f)
	}
	l.settled(m, f)
}

// within objects to a fill outside the candle that its market is in.
func (l *ledger) within(f *market.Fill) {
	for _, c := range l.w.moved {
		if c.Market == f.Market {
			if l.w.config.LimitGap == GapOpen || f.Time != c.Start { // else a limit fills between two candles
				require.GreaterOrEqual(l.w.t, f.Price, c.Low, "order %d", f.Order)
				require.LessOrEqual(l.w.t, f.Price, c.High, "order %d", f.Order)
			}
			require.GreaterOrEqual(l.w.t, f.Time, c.Start)
			require.LessOrEqual(l.w.t, f.Time, c.End())
			return
		}
	}
	l.w.t.Fatalf("order %d fills in a market that does not move", f.Order)
}

// settled books what a fill brought and its fee beside the nominal one.
func (l *ledger) settled(m *market.Market, f *market.Fill) {
	gross := must(m.Value(f.Price, f.Amount))
	rate := l.w.fees.Maker
	if f.Taker {
		rate = l.w.fees.Taker
	}
	l.nominal[f.Order] = must(l.nominal[f.Order].Add(must(gross.MulRate(rate))))
	l.paid[f.Order] = must(l.paid[f.Order].Add(f.Fee))
	amount := market.Money(f.Amount)
	if f.Side == market.Buy {
		gross = gross.Neg()
	} else {
		amount = -amount
	}
	l.base[m.Base] += amount
	l.quote[m.ID] = must(must(l.quote[m.ID].Add(gross)).Sub(f.Fee))
}

// settle compares the books with the venue's balances, to the last unit, and fees with their rates.
func (l *ledger) settle() {
	t, v, euros := l.w.t, l.w.venue, l.w.deposited[1]
	for _, m := range l.w.catalog.Markets() {
		euros += must(l.quote[m.ID].ExactMoney(m.MoneyDrop()))
		require.Equal(t, l.w.deposited[m.Base]+l.base[m.Base], v.Balance(m.Base).Total, "base of %s", m.Name)
	}
	require.Equal(t, euros, v.Balance(1).Total)
	for asset := market.AssetID(1); asset <= 3; asset++ {
		require.GreaterOrEqual(t, v.Balance(asset).Total, market.Money(0))
	}
	for id, r := range l.latest {
		require.Equal(t, l.paid[id], r.FeePaid, "order %d", id)
		if l.w.config.FeeRounding.String() != "none" {
			paid := must(l.paid[id].ScaleUp(market.RateDigits))
			require.GreaterOrEqual(t, paid.Cmp(l.nominal[id]), 0, "order %d pays less than the nominal fee", id)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
