package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// sleeper notes what it sees and does something on some candles, decided by the candle's number and
// its own.
type sleeper struct {
	strategy.Base
	calls *journal
	own   int64
	panic int64 // the candle at which it panics
	count int64
}

func (s *sleeper) OnCandle(d *strategy.Desk, c market.Candle) {
	s.count++
	s.calls.add("%d sees %d at %d, last %d", s.own, c.Start/minute, d.Now(), d.In(1).Last())
	r := rand.New(rand.NewPCG(uint64(s.own), uint64(s.count)))
	switch {
	case s.count == s.panic:
		d.In(1).Buy(strategy.Amount(btc), strategy.At(10*at1))
		panic("at last")
	case r.IntN(9) == 0:
		d.In(1).Buy(strategy.Amount(btc/100), strategy.At(10*at1), strategy.InForce(market.IOC))
	case r.IntN(9) == 0:
		d.Timer(d.Now()+market.Time(r.Int64N(int64(4*minute))), s.count)
	case r.IntN(9) == 0:
		d.Timer(d.Now()+market.Time(r.IntN(4))*minute, s.count) // at a close
	case r.IntN(9) == 0:
		d.In(1).Buy(strategy.Amount(1 << 60)) // refused
	}
}

func (s *sleeper) OnOrder(d *strategy.Desk, o market.Order, _ market.Report) {
	s.calls.add("%d sent %d at %d", s.own, o.ID, d.Now())
}

func (s *sleeper) OnTimer(d *strategy.Desk, name int64) {
	s.calls.add("%d rings %d at %d", s.own, name, d.Now())
}

// sleepers is an engine with two of them; the first warms up and panics late.
func sleepers(t *testing.T, calls *journal, seed int64) *engine.Engine {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: &sleeper{}}}}) // for its catalog
	account := state.NewAccount(b.catalog, 2, nil)
	gate := risk.New(b.catalog, risk.Config{Strategies: make([]risk.Limits, 2)})
	slot := engine.StrategyConfig{Markets: []market.ID{1}, Intervals: []market.Interval{market.Interval1m}}
	first, second := slot, slot
	first.Strategy, first.Warmup = &sleeper{calls: calls, own: seed, panic: 40 + seed}, []int{5}
	second.Strategy = &sleeper{calls: calls, own: seed + 100}
	e := engine.New(engine.Config{Catalog: b.catalog, Account: account, Gate: gate,
		Slots: []engine.StrategyConfig{first, second}})
	e.Step(&market.Event{Kind: market.KindTransfer, At: start, Asset: 1, Money: 10_000 * eur})
	return e
}

// run lets candles and timers happen; with coast, as many at once as the engine takes.
func run(e *engine.Engine, series []market.Candle, calls *journal, coast bool) {
	send := func(commands []market.Command) {
		for i := range commands {
			calls.add("%s at %d", describe(&commands[i]), commands[i].At)
		}
	}
	ring := func(until market.Time) {
		for at, waiting := e.NextTimer(); waiting && at <= until; at, waiting = e.NextTimer() {
			send(e.Step(&market.Event{Kind: market.KindTimer, At: max(at, e.Now())}))
		}
	}
	for len(series) > 0 {
		if coast {
			n, commands := e.StepQuiet(series, minute, 0, engine.Quiet{Low: 90 * at1, High: 110 * at1})
			send(commands)
			if worst := outside(series[:n]); worst >= 0 {
				calls.add("coasted over candle %d, which leaves the calm", worst)
			}
			series = series[n:]
			if n > 0 {
				continue
			}
		}
		end := series[0].End()
		ring(end - 1)
		send(e.Step(&market.Event{Kind: market.KindCandles, At: end, Candles: series[:1]}))
		if e.TimerDue() {
			ring(end)
		}
		series = series[1:]
	}
}

// outside is the place of the first candle that leaves the calm, or -1.
func outside(series []market.Candle) int {
	return slices.IndexFunc(series, func(c market.Candle) bool { return c.Low <= 90*at1 || c.High >= 110*at1 })
}

func TestCoastingIsSteppingOneByOne(t *testing.T) {
	series := make([]market.Candle, 200)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range series {
		p := market.Price(95 + r.IntN(10))
		series[i] = candleOf(1, p, p+market.Price(r.IntN(12)), p-market.Price(r.IntN(12)), p)
		series[i].Start = start + market.Time(i)*minute
	}
	for seed := range int64(40) {
		var stepped, coasted journal
		one, two := sleepers(t, &stepped, seed), sleepers(t, &coasted, seed)
		run(one, series, &stepped, false)
		run(two, series, &coasted, true)
		require.Equal(t, stepped, coasted, "seed %d", seed)
		require.Equal(t, one.Halts(), two.Halts())
		require.Len(t, one.Halts(), 1)
		require.Equal(t, one.Now(), two.Now())
		require.Equal(t, one.Refused(2), two.Refused(2))
	}
}

// taster uses candles until one closes at 100 or above.
type taster struct {
	strategy.Base
	skipped, candles []market.Candle
}

func (s *taster) Skip(series []market.Candle) (used int) {
	for used < len(series) && series[used].Close < 100*at1 {
		s.skipped = append(s.skipped, series[used])
		used++
	}
	return used
}

func (s *taster) OnCandle(_ *strategy.Desk, c market.Candle) { s.candles = append(s.candles, c) }

func TestSkipGetsQuietCandlesInARow(t *testing.T) {
	for _, walked := range [...]bool{false, true} {
		own := &taster{}
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: own, Markets: []market.ID{1},
			Intervals: []market.Interval{market.Interval1m}}}})
		series := make([]market.Candle, 6)
		for i, closed := range [...]market.Price{97, 98, 100, 99, 99, 99} {
			series[i] = candleOf(1, 97, 101, 95, closed)
			series[i].Start, series[i].Volume = start+market.Time(i)*minute, market.Volume(i)
		}
		series[5].High = 110 * at1
		stepped, commands := b.engine.StepQuiet(series, minute, 0,
			engine.Quiet{Low: 90 * at1, High: 110 * at1, Walked: walked})
		require.Equal(t, 5, stepped, "the sixth leaves the range")
		require.Empty(t, commands)
		if walked { // something has happened at it: OnCandle gets it
			require.Equal(t, []market.Candle{series[0], series[2]}, own.candles)
			require.Equal(t, []market.Candle{series[1], series[3], series[4]}, own.skipped)
			continue
		}
		require.Equal(t, series[2:3], own.candles)
		require.Equal(t, append(slices.Clone(series[:2]), series[3:5]...), own.skipped)
	}
}

// The base has left the shared money: the sale of the Close is refused at once.
func TestACloseThatFailsOnAQuietCandleIsHeardOfAtOnce(t *testing.T) {
	c := &closer{}
	c.candle = minutely(map[int]func(d *strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) },
		4: func(d *strategy.Desk) { require.NoError(t, d.In(1).Close()) },
	})
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}}})
	b.flat(3, 100)
	b.by(&market.Event{Kind: market.KindTransfer, At: b.now, Asset: b.catalog.Market(1).Base,
		Money: -market.Money(btc)})
	series := make([]market.Candle, 3)
	for i := range series {
		series[i] = candleOf(1, 100, 100, 100, 100)
		series[i].Start = b.now + market.Time(i)*minute
	}
	n, commands := b.engine.StepQuiet(series, minute, 0, engine.Quiet{High: 200 * at1})
	require.Equal(t, 1, n)
	require.Empty(t, commands)
	require.Len(t, c.failed, 1)
}
