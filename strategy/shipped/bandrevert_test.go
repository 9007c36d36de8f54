package shipped_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// startBand has a band of one deviation around four closes, and a stop two ranges of two candles
// away that may lose 2 % of the equity.
func startBand(t *testing.T) *stage {
	return begin(t, 2, 2, 1000_00).with(shipped.BandRevert, market.Interval1h, map[string]any{"closes": int64(4),
		"width": 1.0, "gain": "5%", "atr": int64(2), "stop_atr": 2.0, "risk": "2%"})
}

// ranges closes candles of a range of 4 around their close.
func (s *stage) ranges(prices ...market.Price) {
	s.Helper()
	for _, price := range prices {
		require.Empty(s, s.Asked())
		s.Bar(s.strategy, s.desk, market.Candle{Open: price * 100, High: price*100 + 2_00, Low: price*100 - 2_00,
			Close: price * 100, Market: s.market.ID, Interval: market.Interval1h})
	}
}

func TestItBuysAFallBelowTheBandOnce(t *testing.T) {
	s := startBand(t)
	s.ranges(100, 100, 100, 98)
	s.ranges(97) // below the band, and not 5 % below the mean
	s.ranges(100, 100, 100, 90)
	// The average range was 4.125. The last one is 12, so that it is 8.0625 now. A unit loses twice
	// that, and 20 EUR may be lost.
	require.Equal(t, []string{"buy 1.23 stop 73.87 target 0 (below the band), trail by 16.13"}, s.Asked())
	s.Drop(1)
	s.ranges(80, 70) // still below it
	require.Empty(t, s.Asked())
}

func TestItLeavesAtTheMean(t *testing.T) {
	s := startBand(t)
	s.ranges(100, 100, 100, 90)
	require.Len(t, s.Asked(), 1)
	s.Fill(1, 90_00, 1_00)
	s.ranges(91, 92) // the means are 95.25 and 93.25
	s.ranges(94)     // above 91.75
	require.Equal(t, []string{"close all (at the mean)"}, s.Asked())
}

func TestItNeedsTheLongerOneOfBandAndRange(t *testing.T) {
	for closes, want := range map[int64]int{20: 95, 200: 201} {
		needs, err := shipped.BandRevert.Needs(map[string]any{"closes": closes})
		require.NoError(t, err)
		require.Equal(t, want, needs.Warmup)
	}
}
