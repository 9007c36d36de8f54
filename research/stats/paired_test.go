package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The formula without ties: 1 − 6Σd²/(n(n²−1)).
func TestRankCorrelationsOfASmallSample(t *testing.T) {
	x, y := []float64{1, 2, 3, 4, 5, 6}, []float64{10, 30, 20, 60, 50, 40}
	require.InDelta(t, 1-6.0*(1+1+4+4)/(6*35), RankCorrelation(x, y), 1e-12)
	require.InDelta(t, 1, RankCorrelation(x, []float64{1, 4, 9, 16, 25, 1e9}), 1e-12)
	require.InDelta(t, -1, RankCorrelation(x, []float64{0, -1, -2, -3, -4, -5}), 1e-12)
	nan := math.NaN()
	require.InDelta(t, 1, RankCorrelation([]float64{1, nan, 2}, []float64{3, 0, 4}), 1e-12,
		"a pair with a NaN is left out")
	require.True(t, math.IsNaN(RankCorrelation(x, make([]float64, 6))), "a constant has no order")
	require.True(t, math.IsNaN(RankCorrelation(x[:1], y[:1])))
}

// A rank counts the values that are less, and half of the equal ones.
func TestRanksShareTheirMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Map(rapid.Float64Range(-3, 3), math.Round)).Draw(t, "values")
		have := ranks(values)
		for i, x := range values {
			want := 0.5
			for _, other := range values {
				if other < x {
					want++
				} else if other == x {
					want += 0.5
				}
			}
			if have[i] != want {
				t.Fatalf("rank %v of %v instead of %v", have[i], x, want)
			}
		}
	})
}

// naivePaired draws blocks by hand, and sums the resampled series themselves.
func naivePaired(a, b []float64, how Resampling) (mean, p float64) {
	for day := range a {
		mean += (a[day] - b[day]) / float64(len(a))
	}
	days, as, bs := make([]int, len(a)), 0, 1
	for number := range how.Resamples {
		Bootstrap{Days: len(a), Block: how.Block, Seed: how.Seed}.Draw(number, days)
		one, other := 0.0, 0.0
		for _, day := range days {
			one, other = one+a[day], other+b[day]
		}
		if math.Abs((one-other)/float64(len(a))-mean) >= math.Abs(mean)-1e-9 {
			bs++
		}
		as++
	}
	return mean, float64(bs) / float64(1+as)
}

func TestAPairIsComparedDayByDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 40).Draw(t, "days")
		whole := rapid.SliceOfN(rapid.Map(rapid.Float64Range(-9, 9), math.Round), n, n)
		a, b := whole.Draw(t, "a"), whole.Draw(t, "b")
		how := Resampling{Resamples: 19, Block: rapid.Float64Range(1, 6).Draw(t, "block"),
			Seed: rapid.Uint64().Draw(t, "seed")}
		d, err := PairedDifference(a, b, how)
		require.NoError(t, err)
		mean, p := naivePaired(a, b, how)
		require.InDelta(t, mean, d.Mean, 1e-9)
		require.InDelta(t, p, d.P, 1e-9)
		turned, err := PairedDifference(b, a, how)
		require.NoError(t, err)
		require.InDelta(t, -d.Mean, turned.Mean, 1e-12)
		require.Equal(t, d.P, turned.P, "the order of the two does not matter")
	})
}

// With independent days the standard error is the textbook's, and 5 in 100 pairs of equally good
// runs differ at 5 %.
func TestEquallyGoodRunsSeldomDiffer(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	const pairs, days = 400, 120
	alarms := 0
	for seed := range uint64(pairs) {
		a, b := make([]float64, days), make([]float64, days)
		square := 0.0
		for day := range a {
			market := random.NormFloat64()
			a[day], b[day] = market+random.NormFloat64(), market+random.NormFloat64()
		}
		d, err := PairedDifference(a, b, Resampling{Resamples: 99, Block: 1, Seed: seed})
		require.NoError(t, err)
		for day := range a {
			x := a[day] - b[day] - d.Mean
			square += x * x
		}
		require.InEpsilon(t, math.Sqrt(square)/days, d.Error, 1e-9)
		if d.P <= 0.05 {
			alarms++
		}
	}
	require.InDelta(t, 0.05, float64(alarms)/pairs, 0.025)
}

func TestPairsThatCannotBeComparedAreErrors(t *testing.T) {
	how := Resampling{Resamples: 9}
	_, err := PairedDifference([]float64{1, 2, 3}, []float64{1, 2}, how)
	require.EqualError(t, err, "3 returns of one, 2 of the other: want the same days")
	_, err = PairedDifference([]float64{1, 2}, []float64{1, 2}, how)
	require.EqualError(t, err, "2 days are too few: at least 3")
	_, err = PairedDifference([]float64{1, 2, math.NaN()}, []float64{1, 2, 3}, how)
	require.EqualError(t, err, "the returns of day 2 are NaN and 3")
	_, err = PairedDifference([]float64{1, 2, 3}, []float64{1, 2, 3}, Resampling{})
	require.EqualError(t, err, "a test by resampling needs at least one resample")
	d, err := PairedDifference([]float64{1, 2, 3}, []float64{1, 2, 3}, how)
	require.NoError(t, err)
	require.Equal(t, Difference{Days: 3, Block: 1, P: 1}, d, "the same run twice")
}
