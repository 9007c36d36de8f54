package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// TestAVenueWhoseTouchesAllMissFillsOnlyWhatIsTradedThrough: a fill probability of 0 is limit_fill
// through, whatever orders, brackets and candles come.
func TestAVenueWhoseTouchesAllMissFillsOnlyWhatIsTradedThrough(t *testing.T) {
	trades := 0
	rapid.Check(t, func(t *rapid.T) {
		one, other := newPair(t), newPair(t)
		one.venue.config.LimitFill, one.venue.config.LimitGap = Through, other.venue.config.LimitGap
		one.venue.MissTouches(1, 0, 0)
		other.venue.MissTouches(1, 100_000_000, 1)
		for range rapid.IntRange(1, 15).Draw(t, "candles") {
			c := randomCandle(t, one.now)
			for _, p := range [...]*pair{one, other} {
				p.now = c.End()
				require.NoError(t, p.venue.Advance(&market.Event{At: p.now, Kind: market.KindCandles,
					Candles: []market.Candle{c}}))
				check(t, p.venue)
			}
			require.Equal(t, one.clever, other.clever)
			for range rapid.IntRange(0, 3).Draw(t, "commands") {
				one.command(t)
				last := one.commands[len(one.commands)-1]
				other.venue.Do(&last)
			}
		}
		trades += len(one.clever)
	})
	require.Positive(t, trades, "the test has tested nothing")
}

// TestTheShareOfMissedTouchesIsTheProbability counts draws.
func TestTheShareOfMissedTouchesIsTheProbability(t *testing.T) {
	for _, rate := range []market.Rate{0, 1, 10_000_000, 50_000_000, 99_999_999, 100_000_000} {
		b := &book{missing: misses{chance: rate, seed: 3}}
		const draws = 100_000
		missed := 0
		for i := range draws {
			b.times[0] = market.Time(i/100) * 60_000_000_000
			if b.drawMiss(market.OrderID(i%100 + 1)) {
				missed++
			}
		}
		want := float64(rate) / 100_000_000
		require.InDelta(t, want, float64(missed)/draws, 0.005, "rate %d", rate)
		if rate == 100_000_000 {
			require.Equal(t, draws, missed)
		}
	}
}
