package synthetic_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
)

// The five share BTC-EUR's moves, each with moves of its own: their daily returns correlate, and
// no two markets are the same.
func TestSixMarketsShareTheirMoves(t *testing.T) {
	days := map[string][]float64{}
	for i, one := range synthetic.Six() {
		m := &market.Market{ID: market.ID(i + 1), Name: one.Name, PriceDigits: one.PriceDigits,
			VolumeDigits: one.VolumeDigits}
		hours, err := synthetic.Hours(m, 1)
		require.NoError(t, err)
		require.Greater(t, len(hours), synthetic.BTCEURHours*99/100)
		require.Less(t, len(hours), synthetic.BTCEURHours, "some candles are missing, as in a market")
		closes := map[int64]float64{}
		for k := range hours {
			c := &hours[k]
			require.Equal(t, m.ID, c.Market)
			require.Positive(t, c.Low)
			require.LessOrEqual(t, c.Low, min(c.Open, c.Close), "%s %s", one.Name, c.Start)
			require.GreaterOrEqual(t, c.High, max(c.Open, c.Close))
			closes[int64(c.Start-synthetic.BTCEURStart)/int64(market.Interval1d.Fixed())] = float64(c.Close)
		}
		for day := int64(1); day < 3*365; day++ {
			days[one.Name] = append(days[one.Name], closes[day]/closes[day-1]-1)
		}
		first, last := hours[0].Open, hours[len(hours)-1].Close
		require.Less(t, math.Abs(math.Log(float64(last)/float64(first))), math.Log(30), "%s: %d to %d", one.Name, first,
			last)
	}
	names := synthetic.Names()
	for i, a := range names {
		for _, b := range names[:i] {
			r := correlation(days[a], days[b])
			t.Logf("%s %s: %.2f", a, b, r)
			require.Greater(t, r, 0.25, "%s %s", a, b)
			require.Less(t, r, 0.95, "%s %s", a, b)
		}
	}
}

func correlation(a, b []float64) float64 {
	var n, sa, sb, saa, sbb, sab float64
	for i := range a {
		n, sa, sb = n+1, sa+a[i], sb+b[i]
		saa, sbb, sab = saa+a[i]*a[i], sbb+b[i]*b[i], sab+a[i]*b[i]
	}
	return (n*sab - sa*sb) / math.Sqrt((n*saa-sa*sa)*(n*sbb-sb*sb))
}
