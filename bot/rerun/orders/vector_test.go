package orders

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// The reckoned example of eight marketable orders.
func TestDelaySpreadAndSlippageAddUp(t *testing.T) {
	var costs []Cost
	var latencies []int
	for _, row := range []struct {
		side                                   market.Side
		d, bid, ask, fill, amount              float64
		slippage, halfSpread, delay, total, ms float64
	}{
		{market.Buy, 100, 100, 100.1, 100.12, 1, 2, 5, 5, 12, 41},
		{market.Sell, 100.3, 100.2, 100.3, 100.18, 2, 1.99401795, 4.98504487, 4.98504487, 11.96410768, 55},
		{market.Buy, 101.05, 101, 101.2, 101.2, 0.5, 0, 9.89609104, 4.94804552, 14.84413657, 38},
		{market.Buy, 99.85, 99.8, 99.9, 99.95, 1.5, 5.00751127, 5.00751127, 0, 10.01502253, 120},
		{market.Sell, 100.6, 100.5, 100.6, 100.5, 1, 0, 4.97017893, 4.97017893, 9.94035785, 47},
		{market.Sell, 102.1, 102, 102.3, 101.8, 3, 19.58863859, 14.69147894, -4.89715965, 29.38295788, 900},
		{market.Buy, 101.2, 101.1, 101.2, 101.19, 1, -0.98814229, 4.94071146, -4.94071146, -0.98814229, 44},
		{market.Sell, 100.95, 100.9, 101, 100.85, 2, 4.952947, 4.952947, 0, 9.90589401, 61},
	} {
		c := costOf(row.side, row.d, row.bid, row.ask, row.fill)
		for _, pair := range [][2]float64{{row.slippage, c.Slippage}, {row.halfSpread, c.HalfSpread},
			{row.delay, c.Delay},
			{row.total, c.Total}, {c.Total, c.Delay + c.HalfSpread + c.Slippage}} {
			require.InDelta(t, pair[0], pair[1], 6e-9)
		}
		c.Weight = row.amount * row.fill
		costs, latencies = append(costs, c), append(latencies, int(row.ms))
	}
	require.InDelta(t, 6.80437767, mean(costs, slippage), 6e-9)
	require.InDelta(t, 7.63446499, mean(costs, halfSpread), 6e-9)
	require.InDelta(t, 0.20973349, mean(costs, delay), 6e-9)
	require.InDelta(t, 14.64857615, mean(costs, total), 6e-9)
	parts := partsOf(costs, slippage)
	sum := 0.0
	for _, part := range parts {
		sum += part / 8
	}
	require.InDelta(t, 4.06937156, sum, 6e-9)
	require.InDelta(t, -0.98814229, quantile(parts, 0.1), 6e-9)
	require.InDelta(t, 1.99401795, quantile(parts, 0.5), 6e-9)
	require.InDelta(t, 19.58863859, quantile(parts, 0.9), 6e-9)
	slices.Sort(latencies)
	for q, want := range map[float64]int{0.5: 47, 0.9: 900, 0.95: 900, 0.99: 900} {
		require.Equal(t, want, quantile(latencies, q))
	}
	require.True(t, enough(0.9, 100))
	require.False(t, enough(0.9, 99))
}

// The reckoned example of eight waits.
func TestWaitsAreEstimatedWithTheirCensoring(t *testing.T) {
	var waits []Wait
	for _, one := range [][2]int{{1, 1}, {2, 1}, {2, 0}, {3, 1}, {4, 0}, {5, 1}, {5, 1}, {7, 0}} {
		waits = append(waits, Wait{Candles: one[0], Filled: one[1] == 1})
	}
	want := []Step{{1, 8, 1, 0.875, 0.1169267933}, {2, 7, 1, 0.75, 0.1530931089}, {3, 5, 1, 0.6, 0.1816590212},
		{5, 3, 2, 0.2, 0.1741646730}}
	steps := Survival(waits)
	require.Len(t, steps, len(want))
	for i, s := range steps {
		require.InDelta(t, want[i].Left, s.Left, 1e-12)
		require.InDelta(t, want[i].Error, s.Error, 6e-11)
		s.Left, s.Error, want[i].Left, want[i].Error = 0, 0, 0, 0
		require.Equal(t, want[i], s)
	}
	require.Equal(t, 5, median(steps))
	require.Zero(t, median(steps[:3]))
	probability, fills, candles := hazard(waits)
	require.InDelta(t, 0.1724137931, probability, 6e-11)
	require.Equal(t, []int{5, 29}, []int{fills, candles})

	waits[2].Canceled, waits[4].Canceled = true, true
	low, high := hazardBounds(waits)
	require.InDelta(t, 5.0/(29+5+3), low, 1e-12)
	require.InDelta(t, 7.0/29, high, 1e-12)
}
