package placebo

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// holding is the number of the signal that holds for a place at a time; 0: none does.
func holding(list []market.Signal, at about, now market.Time) int64 {
	for i := range slices.Backward(list) {
		if s := &list[i]; aboutOf(s) == at && s.Known <= now {
			if s.Holds(now) {
				return s.Number
			}
			return 0
		}
	}
	return 0
}

// What holds at a time of the data holds, after a turn, so much later, round the circle. Nothing is
// lost, and distances stay.
func TestATurnMovesWhatHoldsRoundTheCircle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := circle{from: 1000, step: 10}
		c.to = c.from + c.step*market.Time(rapid.IntRange(20, 40).Draw(t, "steps"))
		var list []market.Signal
		known := market.Time(rapid.IntRange(900, 1100).Draw(t, "first"))
		for i := range rapid.IntRange(0, 30).Draw(t, "signals") {
			s := market.Signal{Source: "m", Number: int64(i + 1), Known: known, Time: known - 3,
				Market: market.ID(rapid.IntRange(0, 2).Draw(t, "market"))}
			if rapid.Bool().Draw(t, "ends") {
				s.Until = known + market.Time(rapid.IntRange(1, 90).Draw(t, "age"))
			}
			list = append(list, s)
			known += market.Time(rapid.IntRange(0, 40).Draw(t, "distance"))
		}
		by := c.step * market.Time(rapid.IntRange(0, int(c.number())-1).Draw(t, "turn"))
		before := slices.Clone(list)
		ring, turned := c.cut(list), c.turn(list, by)
		require.Equal(t, before, list)
		require.True(t, slices.IsSortedFunc(turned, func(a, b market.Signal) int { return int(a.Known - b.Known) }))
		inside := 0
		for i := range turned {
			s := &turned[i]
			require.Equal(t, market.Time(3), s.Known-s.Time-(ringKnown(ring, s.Number)-list[s.Number-1].Known))
			if s.Known >= c.from {
				inside++
			}
		}
		require.Equal(t, len(ring), inside)
		for m := range market.ID(3) {
			at := about{"m", m}
			for now := c.from; now < c.to; now++ {
				later := c.from + (now-c.from+by)%(c.to-c.from)
				require.Equal(t, holding(list, at, now), holding(ring, at, now), "cut at %d", now)
				require.Equal(t, holding(ring, at, now), holding(turned, at, later), "%d turned by %d", now, by)
			}
		}
	})
}

// ringKnown is when a signal begins in the cut list.
func ringKnown(ring []market.Signal, number int64) market.Time {
	return ring[slices.IndexFunc(ring, func(s market.Signal) bool { return s.Number == number })].Known
}

// The steps of a turn: a candle of the strategies, whole stretches of Keep, whole weeks.
func TestTheStepOfATurn(t *testing.T) {
	hour := market.Time(time.Hour)
	for _, c := range []struct {
		main  market.Interval
		rules Rules
		step  market.Time
	}{
		{market.Interval1h, Rules{}, hour},
		{market.Interval4h, Rules{Keep: 24 * time.Hour}, 24 * hour},
		{market.Interval1h, Rules{SeasonalDrift: true}, 168 * hour},
		{market.Interval1d, Rules{SeasonalDrift: true, Keep: 48 * time.Hour}, 336 * hour},
		{market.Interval1M, Rules{}, 24 * hour},
	} {
		d := &Data{rules: c.rules, main: c.main, models: map[units]*model{
			{id: 1}: {number: 5, first: 7, end: 20 * 336 * hour}, {id: 2}: {number: 5, first: 5, end: 9}, {id: 3}: {}}}
		require.NoError(t, d.close())
		require.Equal(t, c.step, d.circle.step)
		require.Equal(t, market.Time(5), d.circle.from)
		require.Zero(t, (d.circle.to-5)%c.step)
		require.GreaterOrEqual(t, d.circle.to, 20*336*hour)
	}
	short := &Data{main: market.Interval1d, models: map[units]*model{{id: 1}: {number: 19, end: 19 * 24 * hour}}}
	require.ErrorContains(t, short.close(), "the candles last 19 steps of 24h0m0s")
}
