package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

func TestAPanicDropsItsCallbackAndNothingElse(t *testing.T) {
	var calls journal
	wild := &script{candle: func(d *strategy.Desk, c market.Candle) {
		d.In(c.Market).Buy(strategy.Amount(btc), strategy.At(50*at1))
		if c.Market == 2 {
			d.Cancel(1)
			panic("out of coffee")
		}
	}}
	calm := &script{candle: func(d *strategy.Desk, c market.Candle) {
		calls.add("calm %d", c.Market)
		d.In(c.Market).Buy(strategy.Amount(btc), strategy.At(40*at1))
	}}
	both := []market.ID{1, 2, 3}
	b := newBench(t, setup{markets: 3, slots: []engine.StrategyConfig{{Name: "wild", Strategy: wild, Markets: both},
		{Strategy: calm, Markets: both}}})
	group := []market.Candle{candleOf(1, 100, 100, 100, 100), candleOf(2, 100, 100, 100, 100),
		candleOf(3, 100, 100, 100, 100)}
	b.group(group...)
	require.Equal(t, journal{"calm 1", "calm 2", "calm 3"}, calls) // the rest of the group is delivered, to the others
	require.Equal(t, []string{"buy 1 @ 50", "buy 1 @ 40", "buy 1 @ 40", "buy 1 @ 40"}, b.sent)
	require.Equal(t, []engine.Halt{{Strategy: 1, Name: "wild", At: start + minute, Reason: "panic: out of coffee"}},
		b.engine.Halts())
	require.Contains(t, b.log.String(), `"panic":"out of coffee"`)
	require.Contains(t, b.log.String(), "panic_test.go")
	_, held := b.account.Balance(1, 1)
	require.Equal(t, 170*eur, held) // the dropped order holds nothing
	b.group(group...)
	require.Equal(t, "cancel 1", b.sent[4], "its open order is cancelled once the exchange has answered")
	require.Len(t, calls, 6)
}

func TestAPanicKeepsWhatTheSameStrategySentBeforeInTheStep(t *testing.T) {
	s := &script{candle: func(d *strategy.Desk, c market.Candle) {
		d.In(c.Market).Buy(strategy.Amount(btc), strategy.At(50*at1))
		if c.Market == 2 {
			panic(1)
		}
	}}
	b := newBench(t, setup{markets: 2, slots: []engine.StrategyConfig{{Strategy: s, Markets: []market.ID{1, 2}}}})
	b.group(candleOf(1, 100, 100, 100, 100), candleOf(2, 100, 100, 100, 100))
	require.Equal(t, []string{"buy 1 @ 50"}, b.sent)
	require.Len(t, b.account.Open(nil, 1, 0), 1)
}

func TestEveryCallbackMayPanic(t *testing.T) {
	boom := func() { panic("boom") }
	rows := map[string]*script{
		"OnStart":  {start: func(*strategy.Desk) { boom() }},
		"OnTicker": {ticker: func(*strategy.Desk, market.Ticker) { boom() }},
		"OnBook":   {book: func(*strategy.Desk, strategy.OrderBook) { boom() }},
		"OnTimer": {start: func(d *strategy.Desk) { d.Timer(start+1, 1) },
			timer: func(*strategy.Desk, int64) { boom() }},
		"OnOrder of sent": {candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) }),
			order: func(*strategy.Desk, market.Order, market.Report) { boom() }},
		"OnOrder of filled": {candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) }),
			order: func(_ *strategy.Desk, _ market.Order, r market.Report) {
				if r.Exec == market.ExecTrade {
					boom()
				}
			}},
		"OnFill": {candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) }),
			fill: func(d *strategy.Desk, _ market.Fill) {
				d.In(1).Sell(strategy.Amount(btc))
				boom()
			}},
		"a nil dereference": {candle: func(*strategy.Desk, market.Candle) {
			var o *market.Order
			o.Amount++
		}},
	}
	for name, s := range rows {
		healthy := 0
		other := &script{candle: func(*strategy.Desk, market.Candle) { healthy++ }}
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s, Ticker: true, Book: true},
			{Strategy: other}}})
		b.send(b.engine.Start(start))
		b.candle(100, 100, 100, 100)
		b.step(&market.Event{Kind: market.KindTicker, At: b.now, Ticker: &market.Ticker{Market: 1, Last: 1}})
		b.step(&market.Event{Kind: market.KindBook, At: b.now, Book: &market.OrderBook{Market: 1}})
		b.flat(3, 100)
		require.Len(t, b.engine.Halts(), 1, name)
		require.Equal(t, market.StrategyID(1), b.engine.Halts()[0].Strategy, name)
		require.Equal(t, 4, healthy, name)
		require.NotContains(t, b.sent, "sell 1", name)
		require.Empty(t, b.account.Open(nil, 0, 0), name)
	}
}

func TestAPanicTakesBackUpdatesAndCancels(t *testing.T) {
	minutes := 0
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		switch minutes++; minutes {
		case 1:
			d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
			d.In(1).Buy(strategy.Amount(btc), strategy.At(60*at1))
		case 3:
			d.Update(1, strategy.At(90*at1))
			d.Update(2, strategy.At(55*at1))
			d.Cancel(2)
			panic("no")
		}
	}}
	b := one(t, s)
	b.flat(3, 100)
	_, held := b.account.Balance(1, 1)
	require.Equal(t, 110*eur, held) // not the 140 of the update
	require.Equal(t, []string{"buy 1 @ 50", "buy 1 @ 60", "cancel 1", "cancel 2"}, b.sent)
	b.flat(1, 100)
	require.Equal(t, []string{"1 new", "2 new", "1 canceled", "2 canceled"}, b.told)
}

func TestAHaltKeepsTheExitsOfBrackets(t *testing.T) {
	minutes := 0
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		switch minutes++; minutes {
		case 1:
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
			d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
		case 3:
			// would move the stop
			require.NoError(t, d.Update(1, strategy.Exits(95*at1, 105*at1)))
			// would dissolve the bracket
			require.NoError(t, d.Cancel(1))
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(80*at1), strategy.TargetAt(120*at1)) // would open another
			panic("half way")
		}
	}}
	b := one(t, s)
	b.flat(4, 100)
	require.Equal(t, []string{"buy 1", "buy 1 @ 50", "stop 1 @ 90 attached", "cancel 2"}, b.sent)
	require.Equal(t, market.Watch{Above: 110 * at1}, b.engine.Watches()[1])
	b.candle(100, 111, 100, 111)
	require.Equal(t, []string{"cancel 3 attached", "sell 1 @ 110 attached"}, b.sent[4:]) // the bracket lives on
	require.Zero(t, b.position())
	require.Equal(t, 10*eur, b.realised())
}

func TestAPanicKeepsAnExitThatIsStillOnItsWay(t *testing.T) {
	minutes := 0
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		if minutes++; minutes == 1 {
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
			return
		}
		require.NoError(t, d.Cancel(1)) // the exit has no answer yet: its cancel would wait for that
		panic("no")
	}}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}},
		venue: sim.Config{Latency: market.Duration(minute * 9 / 10)}})
	b.flat(4, 100)
	require.Len(t, b.engine.Halts(), 1)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached"}, b.sent)
	require.Equal(t, []string{"1 trade 1 @ 100", "2 new"}, b.told)
}

func TestAPanicOutsideAStrategyIsOurs(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc))
	})}}}, observer: angry{}})
	b.flat(1, 100)
	require.PanicsWithValue(t, "observer", func() { b.flat(1, 100) })
}

// angry is an observer that breaks.
type angry struct{ engine.Observer }

func (angry) Filled(*state.Order, *market.Fill) { panic("observer") }
