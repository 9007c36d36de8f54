package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// half is 1 BTC bought at 100, a half sold at 103, the rest at 90 or 108.
func half(with ...strategy.Option) []strategy.Option {
	return append([]strategy.Option{strategy.StopAt(90 * at1), strategy.PartAt(103*at1, 50*percent),
		strategy.TargetAt(108 * at1)}, with...)
}

var parts = []life{
	{name: "the part, then the target", with: half(), bars: []bar{{100, 105, 99, 104}, {104, 110, 103, 109}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "cancel 2 attached",
			"sell 0.5 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 canceled",
			"4 trade 0.5 @ 108"}, realised: 550},
	{name: "the part, then the stop", with: half(), bars: []bar{{100, 105, 99, 104}, {104, 104, 85, 86}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103",
			"2 trade 0.5 @ 90"}, realised: -350},
	{name: "the stop alone", with: half(), bars: []bar{{100, 102, 85, 86}},
		sent: []string{"stop 1 @ 90 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 trade 1 @ 90"}, realised: -1000},
	{name: "part and target in one candle", with: half(), bars: []bar{{100, 100, 100, 100}, {100, 110, 99, 109}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "cancel 2 attached",
			"sell 0.5 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 canceled",
			"4 trade 0.5 @ 108"}, realised: 550},
	{name: "part and stop in one candle, the high first", path: sim.OHLC, with: half(),
		bars: []bar{{100, 100, 100, 100}, {100, 105, 85, 95}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103",
			"2 trade 0.5 @ 90"}, realised: -350},
	{name: "part and stop in one candle, the low first", path: sim.OLHC, with: half(),
		bars: []bar{{100, 100, 100, 100}, {100, 105, 85, 95}},
		sent: []string{"stop 1 @ 90 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 trade 1 @ 90"}, realised: -1000},
	{name: "a gap over the part fills at the open", with: half(),
		bars: []bar{{100, 100, 100, 100}, {105, 106, 104, 105}, {105, 105, 80, 81}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 105",
			"2 trade 0.5 @ 90"}, realised: -250},
	{name: "a gap over the target sells all by it", with: half(),
		bars: []bar{{100, 100, 100, 100}, {110, 111, 109, 110}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached", "sell 1 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 110"}, realised: 1000},
	{name: "bought above the part: it is sold at once", with: half(), bars: []bar{{104, 105, 103, 104}, {104, 109, 104,
		109}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "cancel 2 attached",
			"sell 0.5 @ 108 attached"},
		told: []string{"1 trade 1 @ 104", "2 new", "2 updated", "3 trade 0.5 @ 104", "2 canceled",
			"4 trade 0.5 @ 108"}, realised: 200},
	{name: "the target rests and is reduced", with: half(strategy.Keep(market.KeepTarget)),
		bars: []bar{{100, 105, 99, 104}, {104, 110, 103, 109}},
		sent: []string{"sell 1 @ 108 attached", "update 2 0.5 attached", "sell 0.5 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103",
			"2 trade 0.5 @ 108"}, realised: 550},
	{name: "the target rests, the part is sold, the stop is reached", with: half(strategy.Keep(market.KeepTarget)),
		bars: []bar{{100, 105, 99, 104}, {104, 104, 85, 86}},
		sent: []string{"sell 1 @ 108 attached", "update 2 0.5 attached", "sell 0.5 attached", "cancel 2 attached",
			"stop 0.5 @ 90 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 canceled",
			"4 trade 0.5 @ 90"}, realised: -350},
	{name: "two parts on the way", with: half(strategy.PartAt(105*at1, 25*percent)),
		bars: []bar{{100, 100, 100, 100}, {100, 106, 99, 106}, {106, 109, 105, 109}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "update 2 0.25 attached",
			"sell 0.25 attached", "cancel 2 attached", "sell 0.25 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 updated", "4 trade 0.25 @ 105",
			"2 canceled", "5 trade 0.25 @ 108"}, realised: 475},
	{name: "a gap over two parts is one sale", with: half(strategy.PartAt(105*at1, 25*percent)),
		bars: []bar{{100, 100, 100, 100}, {106, 106, 105, 106}, {106, 109, 105, 109}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.25 attached", "sell 0.75 attached", "cancel 2 attached",
			"sell 0.25 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.75 @ 106", "2 canceled",
			"4 trade 0.25 @ 108"}, realised: 650},
	{name: "a trailing stop over the rest", with: []strategy.Option{strategy.Trail(10 * percent),
		strategy.PartAt(103*at1, 30*percent)},
		bars: []bar{{100, 105, 99, 104}, {104, 120, 104, 120}, {120, 120, 100, 101}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.7 attached", "sell 0.3 attached", "update 2 stop 93.6",
			"update 2 stop 108"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.3 @ 103", "2 updated", "2 updated",
			"2 trade 0.7 @ 108"}, realised: 650},
	{name: "a trailing stop by prices", path: sim.OHLC, with: []strategy.Option{strategy.Trail(10 * percent),
		strategy.ByPrices(), strategy.PartAt(103*at1, 30*percent)},
		bars: []bar{{100, 100, 100, 100}, {100, 120, 104, 110}},
		sent: []string{"stop 1 @ 90 attached", "update 2 stop 92.7 attached", "update 2 0.7 attached",
			"sell 0.3 attached", "update 2 stop 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 updated", "3 trade 0.3 @ 103", "2 updated",
			"2 trade 0.7 @ 108"}, realised: 650},
	{name: "break-even for the rest", with: half(strategy.BreakEvenAfter(3 * percent)),
		bars: []bar{{100, 105, 99, 104}, {104, 104, 85, 86}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "update 2 stop 100"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 updated",
			"2 trade 0.5 @ 100"}, realised: 150},
	{name: "an end after two candles sells the rest", with: half(strategy.ExitAfter(2)),
		bars: []bar{{100, 105, 99, 104}, {104, 104, 102, 104}, {104, 104, 102, 104}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "cancel 2",
			"sell 0.5 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 canceled",
			"4 trade 0.5 @ 104"}, realised: 350},
	{name: "no decimals are lost", with: []strategy.Option{strategy.StopAt(90 * at1),
		strategy.PartAt(103*at1, 33*percent+33*market.BasisPoint), strategy.PartAt(104*at1, 33*percent),
		strategy.TargetAt(105 * at1)},
		bars: []bar{{100, 106, 99, 106}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.6667 attached", "sell 0.3333 attached",
			"update 2 0.3367 attached", "sell 0.33 attached", "cancel 2 attached", "sell 0.3367 @ 105 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.3333 @ 103", "2 updated",
			"4 trade 0.33 @ 104", "2 canceled", "5 trade 0.3367 @ 105"}, realised: 399},
}

func TestPartialTargetsThroughEveryShapeOfCandle(t *testing.T) {
	for _, restarting := range []bool{false, true} {
		for _, l := range parts {
			s := follower(l.with...)
			b := newBench(t, setup{slots: []engine.Slot{{Strategy: s}}, venue: sim.Config{Path: l.path}})
			if restarting {
				b.restartAlways(s)
			}
			b.flat(1, 100)
			for _, c := range l.bars {
				b.candle(c.open, c.high, c.low, c.close)
			}
			require.Equal(t, l.sent, b.sent[1:], l.name)
			require.Equal(t, l.told, b.told, l.name)
			require.Equal(t, l.realised, b.realised(), l.name)
			require.Equal(t, market.Watch{}, b.engine.Watches()[1], l.name)
			require.Zero(t, b.position(), l.name)
			require.Empty(t, b.account.Open(nil, 0, 0), l.name)
		}
	}
}
