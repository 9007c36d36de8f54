package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// bar is a candle in whole EUR.
type bar struct{ open, high, low, close market.Price }

// life is a bracket from its entry to its end.
type life struct {
	name     string
	path     sim.Path
	with     []strategy.Option // of the bracket: 1 BTC, stop 90, target 110
	bars     []bar             // after the first, on which the entry is asked for at 100
	sent     []string          // after the entry
	told     []string
	realised market.Money
	certain  bool // the path within the candles does not matter
}

var lives = []life{
	{name: "the stop is hit", bars: []bar{{100, 105, 95, 100}, {100, 101, 85, 87}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new",
			"2 trade 1 @ 90"}, realised: -10 * eur},
	{name: "the target is hit", bars: []bar{{100, 105, 95, 100}, {100, 115, 99, 112}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached",
			"sell 1 @ 110 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 110"},
		realised: 10 * eur},
	{name: "the entry's own candle hits the stop", bars: []bar{{100, 101, 80, 85}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new",
			"2 trade 1 @ 90"}, realised: -10 * eur},
	{name: "the entry's own candle hits the target", bars: []bar{{100, 120, 99, 115}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached",
			"sell 1 @ 110 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 110"},
		realised: 10 * eur},
	{name: "both in one candle, the low is nearer", bars: []bar{{100, 100, 100, 100}, {100, 125, 80, 100}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new",
			"2 trade 1 @ 90"}, realised: -10 * eur},
	{name: "both in one candle, the high is nearer", bars: []bar{{100, 100, 100, 100}, {100, 120, 75, 100}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached",
			"sell 1 @ 110 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 110"},
		realised: 10 * eur},
	{name: "both, high first", path: sim.OHLC, bars: []bar{{100, 100, 100, 100}, {100, 125, 80, 100}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached",
			"sell 1 @ 110 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 110"},
		realised: 10 * eur},
	{name: "both, low first", path: sim.OLHC, bars: []bar{{100, 100, 100, 100}, {100, 120, 75, 100}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new",
			"2 trade 1 @ 90"}, realised: -10 * eur},
	{name: "both, pessimistic", path: sim.Pessimistic, bars: []bar{{100, 100, 100, 100}, {100, 120, 75, 100}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new",
			"2 trade 1 @ 90"}, realised: -10 * eur},
	{name: "both, optimistic", path: sim.Optimistic, bars: []bar{{100, 100, 100, 100}, {100, 125, 80, 100}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached",
			"sell 1 @ 110 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 110"},
		realised: 10 * eur},
	{name: "a gap through the stop fills at the open", bars: []bar{{100, 100, 100, 100}, {70, 72, 65, 70}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new",
			"2 trade 1 @ 70"}, realised: -30 * eur},
	{name: "a gap through the target fills at the open", bars: []bar{{100, 100, 100, 100}, {130, 131, 129, 130}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached",
			"sell 1 @ 110 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 130"},
		realised: 30 * eur},
	// bought at 85, below its own stop: sold at once
	{name: "a gap after the entry's own open", bars: []bar{{85, 86, 84, 85}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 85", "2 trade 1 @ 85"}, realised: 0},
	// bought at 115, above its own target: sold at once
	{name: "a target behind the entry's own open", bars: []bar{{115, 116, 84, 85}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached",
			"sell 1 @ 110 attached"}, told: []string{"1 trade 1 @ 115", "2 new", "2 canceled", "3 trade 1 @ 115"},
		realised: 0, certain: true},
	{name: "a limit entry fills in the path and the stop acts in the same candle",
		with: []strategy.Option{strategy.At(95 * at1)}, path: sim.OLHC, bars: []bar{{100, 101, 80, 85}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 new", "1 trade 1 @ 95", "2 new",
			"2 trade 1 @ 90"}, realised: -5 * eur},
	{name: "a limit entry fills in the path and the target acts in the same candle",
		with: []strategy.Option{strategy.At(95 * at1)}, path: sim.OLHC, bars: []bar{{100, 120, 94, 100}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached", "sell 1 @ 110 attached"}, told: []string{"1 new",
			"1 trade 1 @ 95", "2 new", "2 canceled", "3 trade 1 @ 110"}, realised: 15 * eur},
	{name: "a limit entry that does not fill has no exits",
		with: []strategy.Option{strategy.At(50 * at1), strategy.Exits(40*at1, 110*at1)}, bars: []bar{{100, 130, 60,
			100}},
		told: []string{"1 new"}},
	{name: "the target rests, and is hit", with: []strategy.Option{strategy.Keep(market.KeepTarget)},
		bars: []bar{{100, 100, 100, 100}, {100, 115, 95, 100}},
		sent: []string{"sell 1 @ 110 attached"}, told: []string{"1 trade 1 @ 100", "2 new",
			"2 trade 1 @ 110"}, realised: 10 * eur},
	{name: "the target rests, and the stop is reached", with: []strategy.Option{strategy.Keep(market.KeepTarget)},
		bars: []bar{{100, 100, 100, 100}, {100, 101, 80, 85}},
		sent: []string{"sell 1 @ 110 attached", "cancel 2 attached",
			"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 90"},
		realised: -10 * eur},
	{name: "the target rests, both in one pessimistic candle",
		with: []strategy.Option{strategy.Keep(market.KeepTarget)}, path: sim.Pessimistic, bars: []bar{{100, 100, 100,
			100}, {100, 120, 80, 100}},
		sent: []string{"sell 1 @ 110 attached", "cancel 2 attached",
			"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 90"},
		realised: -10 * eur},
	{name: "a stop alone", with: []strategy.Option{strategy.Exits(90*at1, 0)},
		bars: []bar{{100, 300, 95, 100}, {100, 101, 85, 87}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new",
			"2 trade 1 @ 90"}, realised: -10 * eur},
	{name: "a target alone", with: []strategy.Option{strategy.Exits(0, 110*at1)},
		bars: []bar{{100, 105, 20, 100}, {100, 115, 99, 112}},
		sent: []string{"sell 1 @ 110 attached"}, told: []string{"1 trade 1 @ 100", "2 new",
			"2 trade 1 @ 110"}, realised: 10 * eur},
}

func TestABracketLivesThroughEveryShapeOfCandle(t *testing.T) {
	for _, l := range lives {
		s := &script{candle: once(func(d *strategy.Desk) {
			with := append([]strategy.Option{strategy.StopAt(90 * at1), strategy.TargetAt(110 * at1)}, l.with...)
			_, err := d.In(1).Buy(strategy.Amount(btc), with...)
			require.NoError(t, err, l.name)
		})}
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{Path: l.path}})
		b.oneSell = true
		b.flat(1, 100)
		for _, c := range l.bars {
			b.candle(c.open, c.high, c.low, c.close)
		}
		require.Equal(t, append([]string{}, l.sent...), b.sent[1:], l.name)
		require.Equal(t, l.told, b.told, l.name)
		require.Equal(t, l.realised, b.realised(), l.name)
		require.Equal(t, market.Watch{}, b.engine.Watches()[1], "%s: nothing is waited for any more", l.name)
		require.Zero(t, b.engine.Brackets().Unprotected(), "%s: without latency an exit is there at once", l.name)
		if l.realised != 0 {
			require.Zero(t, b.position(), l.name)
			require.Empty(t, b.account.Open(nil, 0, 0), l.name)
		}
		if l.certain {
			require.Zero(t, b.venue.Ambiguous(), l.name)
		}
	}
}

func TestPartialFillsOfTheEntryEnlargeTheExit(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1), strategy.At(100*at1))
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{VolumeShare: 40_000}})
	b.flat(1, 101)
	thin := func(open, high, low, close market.Price) {
		c := candleOf(1, open, high, low, close)
		c.Volume = 1000 // of which the venue gives 0.4
		b.group(c)
	}
	thin(101, 101, 100, 101)
	require.Equal(t, []string{"1 new", "1 trade 0.4 @ 100", "2 new"}, b.told)
	thin(101, 101, 100, 101)
	thin(101, 101, 100, 101)
	require.Equal(t, []string{"stop 0.4 @ 90 attached", "update 2 0.8 attached", "update 2 1 attached"}, b.sent[1:])
	b.flat(1, 100)
	require.Equal(t, market.Qty(btc), b.account.Order(2).AmountRemaining)
	for range 3 {
		thin(100, 100, 80, 80)
	}
	require.Zero(t, b.position())
}

func TestAnExitTooSmallForTheExchangeWaitsForMoreOfTheEntry(t *testing.T) {
	for _, enough := range []bool{true, false} {
		s := &script{candle: once(func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1), strategy.At(100*at1))
		})}
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{VolumeShare: 40_000}})
		b.catalog.Market(1).MinOrderInQuote = 50 * eur
		b.flat(1, 101)
		b.candle(101, 101, 100, 101) // the venue gives 0.4, worth 36 at the stop
		require.Equal(t, []string{"buy 1 @ 100"}, b.sent)
		if enough {
			b.candle(101, 101, 100, 101)
			require.Equal(t, []string{"stop 0.8 @ 90 attached"}, b.sent[1:])
			require.Equal(t, market.Watch{Above: 110 * at1}, b.engine.Watches()[1])
			require.Equal(t, market.Duration(minute), b.engine.Brackets().Unprotected(), "from one fill to the next")
			b.candle(101, 101, 100, 101)
			require.Equal(t, "update 2 1 attached", b.sent[2], "it grows with the entry")
			continue
		}
		require.True(t, b.venue.Cancel(1, 0, market.CancelOnAdminRequest))
		b.candle(101, 101, 80, 80)
		require.Len(t, b.sent, 1, "dust is left alone")
		require.Equal(t, 4*btc/10, b.position())
	}
}

func TestEverySellOfABracketIsOverWhatIsLeft(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{VolumeShare: 70_000}})
	b.flat(1, 100)
	c := candleOf(1, 100, 100, 100, 100)
	c.Volume = 10_000
	b.group(c)
	c = candleOf(1, 100, 115, 100, 105) // the target gets 0.7 and waits for more
	b.group(c)
	require.Equal(t, market.Qty(btc*3/10), b.position())
	require.Equal(t, "3 trade 0.7 @ 110", b.told[len(b.told)-1])
	// now the target rests and the stop is watched
	require.Equal(t, market.Watch{Below: 90 * at1}, b.engine.Watches()[1])
	b.candle(105, 106, 80, 85)
	require.Equal(t, []string{"cancel 3 attached", "stop 0.3 @ 90 attached"}, b.sent[4:])
	require.Zero(t, b.position())
}

func TestExitsMoveWithAnUpdateOfTheEntry(t *testing.T) {
	minutes := 0
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		switch minutes++; minutes {
		case 1:
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
		case 2:
			require.NoError(t, d.Update(1, strategy.Exits(95*at1, 120*at1)))
			require.EqualError(t, d.Update(1, strategy.Exits(96*at1, 130*at1)), "refused: in_flight (order 2)")
		case 3:
			require.NoError(t, d.Update(1, strategy.Exits(95*at1, 115*at1))) // the watched one alone: no command
		}
	}}
	b := one(t, s)
	b.flat(2, 100)
	require.Equal(t, market.Watch{Above: 120 * at1}, b.engine.Watches()[1])
	b.flat(1, 100)
	require.Equal(t, market.Watch{Above: 115 * at1}, b.engine.Watches()[1])
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached", "update 2 stop 95"}, b.sent)
	b.candle(100, 101, 94, 94)
	require.Equal(t, -5*eur, b.realised())
}

func TestLevelsOfARestingTargetMoveToo(t *testing.T) {
	minutes := 0
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		switch minutes++; minutes {
		case 1:
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1),
				strategy.Keep(market.KeepTarget), strategy.At(99*at1))
			require.NoError(t, d.Update(1, strategy.Exits(80*at1, 108*at1))) // before the entry has filled
		case 3:
			require.NoError(t, d.Update(1, strategy.Exits(85*at1, 105*at1)))
		}
	}}
	b := one(t, s)
	b.flat(1, 100)
	b.candle(100, 100, 98, 100)
	require.Equal(t, market.Watch{Below: 80 * at1}, b.engine.Watches()[1])
	b.flat(1, 100)
	require.Equal(t, market.Watch{Below: 85 * at1}, b.engine.Watches()[1])
	b.candle(100, 105, 100, 105)
	require.Equal(t, []string{"buy 1 @ 99", "sell 1 @ 108 attached", "update 2 @ 105"}, b.sent)
	require.Equal(t, 6*eur, b.realised())
}

func TestAnUpdateMayChangeEntryAndExitsAtOnce(t *testing.T) {
	minutes := 0
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		switch minutes++; minutes {
		case 1:
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1), strategy.At(99*at1))
			d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
		case 2:
			require.NoError(t, d.Update(1, strategy.Exits(80*at1, 120*at1), strategy.At(95*at1)))
			// no bracket: nothing to change
			require.ErrorContains(t, d.Update(2, strategy.Exits(80*at1, 120*at1)), "232")
		}
	}}
	b := one(t, s)
	b.flat(3, 100)
	b.candle(100, 100, 94, 94)
	require.Equal(t, []string{"buy 1 @ 99", "buy 1 @ 50", "update 1 @ 95", "stop 1 @ 80 attached"}, b.sent)
}

func TestCancellingTheEntryDissolvesTheBracket(t *testing.T) {
	minutes := 0
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		if minutes++; minutes == 1 {
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
		}
		if minutes == 3 {
			require.NoError(t, d.Cancel(1)) // long filled: its exits go
		}
	}}
	b := one(t, s)
	b.flat(3, 100)
	require.Equal(t, market.Watch{}, b.engine.Watches()[1])
	b.candle(100, 130, 70, 100)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached", "cancel 2"}, b.sent)
	require.Equal(t, btc, b.position())
	require.Empty(t, b.account.Open(nil, 0, 0))
}

func TestAStopThatFindsNobodyIsTriedAgainWithEveryOpen(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{VolumeShare: 1_000_000}})
	empty := func() {
		c := candleOf(1, 80, 80, 80, 80)
		c.Volume = 0 // nothing was traded
		b.group(c)
	}
	b.flat(1, 100)
	c := candleOf(1, 100, 100, 100, 100)
	c.Volume = 1 << 40
	b.group(c)
	require.Equal(t, market.Qty(btc), b.position())
	for range 6 {
		empty()
	}
	require.Equal(t, market.Qty(btc), b.position())
	c = candleOf(1, 80, 80, 80, 80)
	c.Volume = 1 << 40
	b.group(c)
	require.Zero(t, b.position())
}

func TestLatencyLeavesAPositionUnprotectedAndSaysSo(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
	})}
	third := minute / 3
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}},
		venue: sim.Config{Latency: market.Duration(third)}})
	b.flat(1, 100)
	b.flat(1, 100) // the order arrives a third into the candle, its stop another third later
	require.Equal(t, []string{"1 trade 1 @ 100", "2 new"}, b.told)
	require.Equal(t, market.Duration(third), b.engine.Brackets().Unprotected())
	b.candle(100, 112, 100, 112) // the target is reached on the way to the second point
	b.flat(1, 112)
	require.Equal(t, []string{"2 canceled", "3 trade 1 @ 112"}, b.told[2:])
	require.Zero(t, b.position())
	// while the cancel was on its way the stop was still there
	require.Equal(t, market.Duration(2*third), b.engine.Brackets().Unprotected())
}

func TestTwoBracketsInOneMarketEachWatchTheirOwn(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
		d.In(1).Buy(strategy.Amount(2*btc), strategy.StopAt(80*at1), strategy.TargetAt(105*at1))
		d.In(1).Buy(strategy.Amount(4*btc), strategy.StopAt(70*at1), strategy.TargetAt(130*at1),
			strategy.Keep(market.KeepTarget))
		d.In(1).Buy(strategy.Amount(8*btc), strategy.StopAt(60*at1), strategy.TargetAt(140*at1),
			strategy.Keep(market.KeepTarget))
	})}
	b := one(t, s)
	b.flat(2, 100)
	require.Equal(t, market.Watch{Below: 70 * at1, Above: 105 * at1}, b.engine.Watches()[1]) // the nearest on each side
	b.candle(100, 107, 100, 107)
	require.Equal(t, market.Watch{Below: 70 * at1, Above: 110 * at1}, b.engine.Watches()[1])
	require.Equal(t, 13*btc, b.position())
	b.candle(107, 107, 65, 66) // the stop of the first rests, that of the third is watched
	require.Equal(t, market.Watch{Below: 60 * at1}, b.engine.Watches()[1])
	require.Equal(t, 8*btc, b.position())
	require.Equal(t, []bracket.Watched{{Bracket: 4, Strategy: 1, Market: 1, Price: 60 * at1, Amount: 8 * btc,
		Stop: true}}, b.engine.Brackets().Watched(1))
	require.Equal(t, 2*5*eur-10*eur-4*30*eur, b.realised())
}

func TestASwapThatTheExchangeRefusesIsTakenBack(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
	})}
	b := one(t, s)
	b.flat(2, 100)
	price := &market.Event{Kind: market.KindTrade, At: b.now, Trade: &market.Trade{Market: 1, Price: 111 * at1}}
	commands := b.engine.Step(price)
	require.Len(t, commands, 1)
	require.Equal(t, "cancel 2 attached", describe(&commands[0]))
	require.Equal(t, market.Watch{}, b.engine.Watches()[1])
	refused := market.Report{Exec: market.ExecRejected, Command: market.CommandCancel, Order: 2, Market: 1, Code: 423}
	require.Empty(t, b.engine.Step(&market.Event{Kind: market.KindReport, At: b.now, Report: &refused}))
	// the stop still rests, the target is waited for
	require.Equal(t, market.Watch{Above: 110 * at1}, b.engine.Watches()[1])
	require.Len(t, b.engine.Step(price), 1)
}

func TestAMoveThatTheExchangeRefusesIsTakenBack(t *testing.T) {
	minutes := 0
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		if minutes++; minutes == 1 {
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
		} else if minutes > 2 {
			require.NoError(t, d.Update(1, strategy.Exits(95*at1, 110*at1)))
		}
	}}
	b := one(t, s)
	b.flat(2, 100)
	candles := []market.Candle{candleOf(1, 100, 100, 100, 100)}
	require.Len(t, b.engine.Step(&market.Event{Kind: market.KindCandles, At: b.now, Candles: candles}), 1)
	refused := market.Report{Exec: market.ExecRejected, Command: market.CommandUpdate, Order: 2, Market: 1, Code: 423}
	b.engine.Step(&market.Event{Kind: market.KindReport, At: b.now, Report: &refused})
	require.Len(t, b.engine.Step(&market.Event{Kind: market.KindCandles, At: b.now, Candles: candles}), 1,
		"the same move is asked for again")
}

func TestABracketOfARefusedEntryIsForgotten(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(99*btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{Slippage: 5_000_000}})
	b.flat(3, 100)
	require.Equal(t, []string{"1 rejected place 216"}, b.told)
	require.Equal(t, market.Watch{}, b.engine.Watches()[1])
	b.candle(100, 130, 70, 100)
	require.Equal(t, []string{"buy 99"}, b.sent)
}

// A partly filled entry above the stop would meet the stop's sell: self-trade prevention cancels
// the stop, and a falling market goes on filling the entry. The entry has to go first.
func TestAStopIsNotHeldUpByTheRestOfItsEntry(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1), strategy.At(100*at1))
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{VolumeShare: 10_000}})
	b.flat(1, 101)
	b.candle(101, 101, 100, 101)
	b.candle(101, 101, 80, 82)
	for range 6 {
		b.candle(80, 81, 79, 80)
	}
	require.Contains(t, b.sent, "cancel 1 attached")
	require.Zero(t, b.position())
	require.Empty(t, b.account.Open(nil, 0, 0))
	require.Equal(t, market.Watch{}, b.engine.Watches()[1])
}

// With latency an entry can fill while its cancel is on the way: what it has bought is protected
// all the same.
func TestAnEntryThatFillsBeforeItsCancelArrivesIsProtected(t *testing.T) {
	minute := 0
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		switch minute++; minute {
		case 1:
			_, err := d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1),
				strategy.At(95*at1))
			require.NoError(t, err)
		case 2:
			require.NoError(t, d.Cancel(1))
		}
	}}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}},
		venue: sim.Config{Latency: 30 * market.Duration(time.Second)}})
	b.flat(2, 100)
	b.candle(95, 96, 94, 96)
	b.candle(96, 97, 85, 86)
	require.Contains(t, b.sent, "stop 1 @ 90 attached")
	require.Zero(t, b.position())
	require.Empty(t, b.account.Open(nil, 0, 0))
}
