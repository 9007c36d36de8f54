package main

import (
	"fmt"
	"math"
	"slices"
)

// confidence is the least probability with which an interval must contain the true median.
const confidence = 0.9

// maxPairs keeps 2 to the power of -pairs a normal float64.
const maxPairs = 1000

// interval is a confidence interval of the median of a fixed number of values. Its ends are two of
// the sorted values: the one after the lowest cut values and the one before the highest cut. It
// assumes independent values and nothing about their distribution.
type interval struct {
	cut     int
	covered float64 // exact probability that it contains the true median
}

// medianInterval returns the narrowest interval for n values that contains the true median with at
// least the probability want. The number of values below the median is binomial (n, ½). The
// interval misses the median if at most cut values lie below it, or at most cut above it. It
// returns an error if n is too small for want, or above maxPairs.
func medianInterval(n int, want float64) (interval, error) {
	if n > maxPairs {
		return interval{}, fmt.Errorf("%d pairs: at most %d", n, maxPairs)
	}
	found, below := interval{cut: -1}, 0.0
	term := math.Ldexp(1, -n) // probability that exactly cut values lie below
	for cut := 0; cut < n/2; cut++ {
		below += term
		if 1-2*below < want {
			break
		}
		found = interval{cut: cut, covered: 1 - 2*below}
		term *= float64(n-cut) / float64(cut+1)
	}
	if found.cut < 0 {
		return interval{}, fmt.Errorf("%d pairs: too few for a %g %% interval, at least 5", n, 100*want)
	}
	return found, nil
}

// of returns the ends of the interval for values, which must be as many as it was made for.
func (i interval) of(values []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[i.cut], sorted[len(sorted)-1-i.cut]
}

// median returns the middle value, or the mean of the two middle ones.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
