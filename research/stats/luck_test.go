package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func TestTheNormalDistributionIsGonums(t *testing.T) {
	for _, p := range []float64{1e-12, 1e-6, 0.025, 0.5, 0.8, 0.95, 0.999} {
		require.InDelta(t, distuv.UnitNormal.Quantile(1-p), upper(p), 1e-4)
		require.InEpsilon(t, p, normalBelow(-upper(p)), 1e-9, "exact in the tail")
		require.InDelta(t, distuv.UnitNormal.CDF(p), normalBelow(p), 1e-15)
	}
}

func TestTheBestOfManyWorthlessSets(t *testing.T) {
	const power = 0.8
	for _, c := range []struct {
		n                                         int
		mean, bar, above, best2, bar2, detectable float64
	}{
		{10, 1.57459830, 2.56787537, 0.447911, 1.113409, 1.815762, 2.410878},
		{50, 2.27630309, 3.08279267, 0.436720, 1.609589, 2.179864, 2.774980},
		{100, 2.53060289, 3.28340754, 0.435017, 1.789406, 2.321720, 2.916836},
		{1000, 3.25512151, 3.88439750, 0.432707, 2.301718, 2.746684, 3.341800},
		{10000, 3.86066486, 4.41164899, 0.431873, 2.729902, 3.119507, 3.714623},
	} {
		require.InDelta(t, c.mean, ExpectedMax(c.n), 5e-9)
		require.InDelta(t, c.bar, Bar(c.n, 0.05, 1), 5e-9)
		require.InDelta(t, c.above, ShareAbove(ExpectedMax(c.n), c.n, 1), 5e-7)
		require.InDelta(t, c.best2, ExpectedBest(c.n, 2), 5e-7)
		require.InDelta(t, c.bar2, Bar(c.n, 0.05, 2), 5e-7)
		require.InDelta(t, c.detectable, DetectableBest(c.n, 0.05, power, 2), 5e-7)
	}
	require.InDelta(t, 4.998, ExpectedMax(45)*ExpectedMax(45), 5e-4, "five years bear 45 tries for a Sharpe of 1")
	require.Zero(t, ExpectedMax(1))
	require.Zero(t, ExpectedMax(0))
}

// The formulas of a maximum by powers, which lose digits for large n.
func TestTheBarIsTheQuantileOfAMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, level := rapid.IntRange(1, 5000).Draw(t, "n"), rapid.Float64Range(0.01, 0.5).Draw(t, "level")
		bar := Bar(n, level, 1)
		if naive := distuv.UnitNormal.Quantile(math.Pow(1-level, 1/float64(n))); math.Abs(naive-bar) > 1e-7 {
			t.Fatalf("%v instead of %v", bar, naive)
		}
		if share := ShareAbove(bar/math.Sqrt2, n, 2); math.Abs(share-level) > 1e-9 {
			t.Fatalf("%v of the searches are above the bar of %v", share, level)
		}
		if Bar(n+1, level, 1) <= bar {
			t.Fatal("a further try lowers the bar")
		}
	})
}

func TestTheLeastSharpeThatCanBeFound(t *testing.T) {
	days := []int{90, 180, 365, 730, 1095, 1460}
	for power, wants := range map[float64][]float64{
		0.5: {3.331031, 2.348806, 1.647111, 1.163885, 0.950091, 0.822709},
		0.8: {5.065109, 3.561012, 2.493469, 1.760672, 1.436910, 1.244109},
	} {
		for i, want := range wants {
			got, err := Detectable(days[i], 0.05, power)
			require.NoError(t, err)
			require.InDelta(t, want, Annual(got), 5e-7)
		}
	}
	_, err := Detectable(1, 0.05, 0.8)
	require.Error(t, err)
}

func TestDetectableSolvesItsEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(20, 5000).Draw(t, "n")
		level, power := rapid.Float64Range(0.001, 0.2).Draw(t, "level"), rapid.Float64Range(0.25, 0.99).Draw(t, "power")
		got, err := Detectable(n, level, power)
		if err != nil {
			t.Fatal(err)
		}
		right := (upper(level) + upper(1-power)*math.Sqrt(1+got*got/2)) / math.Sqrt(float64(n-1))
		if math.Abs(got-right) > 1e-12 {
			t.Fatalf("%v, but its equation gives %v", got, right)
		}
	})
}

// The example of the paper; its variance of the tries is that of annual Sharpe ratios.
func TestDSRAgreesWithPublishedFigures(t *testing.T) {
	const year = 250
	r := TrackRecord{N: 1250, Sharpe: annual(2.5, year), Skew: -3, Kurtosis: 10}
	tries := Trials{count: 100, variance: 0.5 / year}
	require.InDelta(t, 0.113172, tries.Benchmark(), 5e-7)
	require.InDelta(t, 0.900397, r.PSR2012(tries.Benchmark()), 5e-7)
	tries.count = 46
	require.InDelta(t, 0.950502, r.PSR2012(tries.Benchmark()), 5e-7)
	tries.count, r.Skew, r.Kurtosis = 88, 0, 3
	require.InDelta(t, 0.950491, r.PSR2012(tries.Benchmark()), 5e-7)

	// mlfinlab takes the variance with the divisor n.
	three, err := TrialsOf([]float64{3.5, 1.01, 1.02})
	require.NoError(t, err)
	r = TrackRecord{N: 250, Sharpe: 1.14, Kurtosis: 3}
	require.InDelta(t, 0.1524, r.PSR2012(three.Benchmark()), 5e-5)
	three.variance *= 2.0 / 3
	require.InDelta(t, 0.958366, r.PSR2012(three.Benchmark()), 5e-7)
}

func TestTriesAreCountedAndVariedTogether(t *testing.T) {
	one, err := TrialsOf([]float64{0.1})
	require.NoError(t, err)
	r := TrackRecord{N: 730, Sharpe: 0.1, Skew: -0.5, Kurtosis: 6}
	require.Equal(t, r.PSR(0), DSR(&r, one), "a single try is a set fixed in advance")
	two, err := TrialsOf([]float64{0.1, 0.2})
	require.NoError(t, err)
	require.Equal(t, 2, two.Count())
	require.InDelta(t, 0.005, two.Variance(), 1e-15)
	many, err := AdaptiveTrials(1000, []float64{0.1, 0.2})
	require.NoError(t, err)
	require.Equal(t, two.Variance(), many.Variance())
	require.Less(t, DSR(&r, many), DSR(&r, two))
	for _, bad := range [][]float64{nil, {math.NaN()}, {1, math.Inf(-1)}} {
		_, err := TrialsOf(bad)
		require.Error(t, err)
	}
	_, err = AdaptiveTrials(1, []float64{0.1, 0.2})
	require.Error(t, err)
}

// TestASpreadIsThatOfTheSharpeRatiosThemselves adds them one by one.
func TestASpreadIsThatOfTheSharpeRatiosThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sharpes := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 50).Draw(t, "sharpes")
		var spread Spread
		for _, x := range sharpes {
			spread.Add(x)
		}
		spread.Add(math.NaN())
		want, err := AdaptiveTrials(99, sharpes)
		require.NoError(t, err)
		have, err := spread.Trials(99)
		require.NoError(t, err)
		require.InDelta(t, want.Variance(), have.Variance(), 1e-12)
		require.Equal(t, want.Count(), have.Count())
		_, err = spread.Trials(len(sharpes) - 1)
		require.ErrorContains(t, err, "no more than tries")
	})
}
