package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research/stats"
)

// The vectors are those of a naive program in another language.
func TestWindowsAreAggregatedByTheirMeans(t *testing.T) {
	w, err := stats.WindowsOf([]float64{-0.221, -0.044, 0.995, 3.627}, []float64{2.090, 4.643, -0.239, -3.881})
	require.NoError(t, err)
	for _, c := range [...]struct{ want, have float64 }{{1.08925, w.In}, {0.65325, w.Out},
		{0.5997245813, w.Efficiency}, {0.5, w.Share}, {3.6211365044, w.Spread}, {-0.9245813483, w.Correlation}} {
		require.InDelta(t, c.want, c.have, 1e-9)
	}
}

// stitchedWindows are four windows of ten days in sample and five out of sample.
func stitchedWindows() (in, out [][]float64) {
	for w := range 4 {
		var own, next []float64
		for j := range 10 {
			own = append(own, (math.Cos(0.7*float64(10*w+j))+0.3)/100)
		}
		for j := range 5 {
			next = append(next, (math.Sin(1.1*float64(5*w+j)+0.4)+0.2-0.1*float64(w))/100)
		}
		in, out = append(in, own), append(out, next)
	}
	return in, out
}

func TestAWalkIsStitchedDayByDay(t *testing.T) {
	in, out := stitchedWindows()
	w, err := stats.WalkOf(in, out)
	require.NoError(t, err)
	stitched := slices.Concat(out...)
	record, err := stats.TrackRecordOf(stitched)
	require.NoError(t, err)
	for _, c := range [...]struct{ want, have float64 }{{0.198070923683, record.Sharpe}, {1.028809871760, w.Growth},
		{0.75, w.Share}, {-0.2427479832, record.Skew}, {1.6612089318, record.Kurtosis},
		{0.7997525663, record.PSR2012(0)}, {0.518348725080, w.Out}, {1.207382726490, w.In},
		{0.429316002049, w.Efficiency}} {
		require.InDelta(t, c.want, c.have, 1e-10)
	}
	for i, want := range []float64{0.33775648, 0.33747162, 0.16793896, -0.07571595} {
		require.InDelta(t, want, stats.Sharpe(out[i]), 1e-8)
	}
	for i, want := range []float64{0.0137059916, 0.0120372248, 0.0061770902, -0.0033281374} {
		growth := 1.0
		for _, r := range out[i] {
			growth *= 1 + r
		}
		require.InDelta(t, want, growth-1, 1e-10)
	}
	// Windows of one length: the spread is that of the windows' own growth rates.
	require.InDelta(t, w.Windows.Spread/w.In, w.Spread, 1e-12)
	require.InDelta(t, w.Out, w.Windows.Out, 1e-12)
}

func TestEfficiencyIsUndefinedWithoutGrowthInSample(t *testing.T) {
	_, out := stitchedWindows()
	for _, in := range [][]float64{{-0.01, 0.001}, {0, 0}} {
		w, err := stats.WalkOf([][]float64{in}, out[:1])
		require.NoError(t, err)
		require.True(t, math.IsNaN(w.Efficiency) && math.IsNaN(w.Spread))
		require.Equal(t, 1.0, w.Share)
	}
	for _, c := range [][2][][]float64{{nil, nil}, {{{0.1}}, nil}, {{{}}, {{0.1}}}, {{{0.1}}, {{-1}}},
		{{{math.NaN()}}, {{0.1}}}} {
		_, err := stats.WalkOf(c[0], c[1])
		require.Error(t, err)
	}
}

// More days of one window weigh more: the stitched rate is that of all days, whatever the cut.
func TestTheStitchedRateDoesNotDependOnTheCut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	days := make([]float64, 60)
	for i := range days {
		days[i] = random.NormFloat64() / 50
	}
	whole, err := stats.WalkOf([][]float64{days}, [][]float64{days})
	require.NoError(t, err)
	for range 50 {
		var cut [][]float64
		for rest := days; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			cut, rest = append(cut, rest[:n]), rest[n:]
		}
		w, err := stats.WalkOf(cut, cut)
		require.NoError(t, err)
		require.InDelta(t, whole.Out, w.Out, 1e-9)
		require.InDelta(t, whole.Growth, w.Growth, 1e-12)
	}
}
