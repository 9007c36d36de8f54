package main

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

// coverage counts, over all ways in which n values can lie below or above the true median, those in
// which the interval contains it: in them more than cut values lie on each side.
func coverage(n, cut int) float64 {
	contained := 0
	for way := range uint(1) << n {
		if below := bits.OnesCount(way); below > cut && n-below > cut {
			contained++
		}
	}
	return float64(contained) / float64(uint(1)<<n)
}

func TestTheIntervalIsTheNarrowestThatCoversEnough(t *testing.T) {
	for n := 5; n <= 18; n++ {
		found, err := medianInterval(n, confidence)
		require.NoError(t, err)
		require.InDelta(t, coverage(n, found.cut), found.covered, 1e-12, "%d values", n)
		require.GreaterOrEqual(t, found.covered, confidence, "%d values", n)
		require.Less(t, coverage(n, found.cut+1), confidence, "%d values: a narrower interval covers enough", n)
	}
}

func TestTheIntervalHasItsExactBinomialProbability(t *testing.T) {
	for _, row := range []struct {
		n, cut  int
		covered float64
	}{
		{5, 0, 1 - 2.0/32},
		{8, 1, 1 - 2*(1+8.0)/256},
		{15, 3, 1 - 2*(1+15+105+455.0)/32768}, // 96.5 %: without the next value it would be 88.2 %
		{18, 5, 1 - 2*(1+18+153+816+3060+8568.0)/262144},
		{30, 10, 1 - 2*0.0493686}, // binomial table: P(at most 10 of 30)
		{100, 41, 1 - 2*0.0443130},
	} {
		found, err := medianInterval(row.n, confidence)
		require.NoError(t, err)
		require.Equal(t, row.cut, found.cut, "%d values", row.n)
		require.InDelta(t, row.covered, found.covered, 5e-5, "%d values", row.n)
	}
}

func TestTooFewPairsHaveNoInterval(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 4, maxPairs + 1} {
		_, err := medianInterval(n, confidence)
		require.Error(t, err, "%d values", n)
	}
	most, err := medianInterval(maxPairs, confidence)
	require.NoError(t, err)
	require.InDelta(t, confidence, most.covered, 0.01)
}

func TestTheEndsOfTheIntervalAreValues(t *testing.T) {
	found, err := medianInterval(8, confidence)
	require.NoError(t, err)
	values := []float64{8, 1, 7, 2, 6, 3, 5, 4}
	low, high := found.of(values)
	require.Equal(t, [...]float64{2, 7}, [...]float64{low, high})
	require.Equal(t, []float64{8, 1, 7, 2, 6, 3, 5, 4}, values, "the order of the pairs stays")
	require.InDelta(t, 4.5, median(values), 0)
	require.InDelta(t, 4, median(values[1:]), 0)
}
