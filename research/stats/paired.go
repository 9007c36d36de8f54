package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Difference compares two records of the same days.
type Difference struct {
	Days  int
	Mean  float64 // of the daily returns of the first, less those of the second
	Error float64 // standard error of Mean
	Block float64 // mean block of the bootstrap, in days
	// P is the share of pairs of equally good records, with days this dependent, whose means differ
	// at least as much, in either direction.
	P float64
}

// PairedDifference compares two series of daily returns, day by day: what both have in common, such
// as the market, falls out. how.Block 0 means the BlockLength of the differences.
//
// Errors: series of different length, returns that are not finite, fewer than three days, no
// resample, a block below 1.
//
// Source: Politis & Romano 1994, "The Stationary Bootstrap". Formulas: d = a − b;
// Error = √(LongRunVariance(d)/T); P = PValue of |d̄| among |d̄* − d̄|.
func PairedDifference(a, b []float64, how Resampling) (Difference, error) {
	switch {
	case len(a) != len(b):
		return Difference{}, fmt.Errorf("%d returns of one, %d of the other: want the same days", len(a), len(b))
	case len(a) < 3:
		return Difference{}, fmt.Errorf("%d days are too few: at least 3", len(a))
	case how.Resamples < 1:
		return Difference{}, errors.New("a test by resampling needs at least one resample")
	}
	d := make([]float64, len(a))
	for day := range d {
		d[day] = a[day] - b[day]
	}
	if day := slices.IndexFunc(d, notFinite); day >= 0 {
		return Difference{}, fmt.Errorf("the returns of day %d are %v and %v", day, a[day], b[day])
	}
	if how.Block == 0 {
		how.Block = BlockLength(d).Stationary
	}
	boot := Bootstrap{Days: len(d), Block: how.Block, Seed: how.Seed}
	if err := boot.check(); err != nil {
		return Difference{}, err
	}
	n := float64(len(d))
	result := Difference{Days: len(d), Block: how.Block, Error: math.Sqrt(LongRunVariance(d, how.Block) / n)}
	sum := 0.0
	for _, x := range d {
		sum += x
	}
	result.Mean = sum / n
	days, distances := make([]int, len(d)), make([]float64, how.Resamples)
	for i := range distances {
		boot.Draw(i, days)
		for _, day := range days {
			distances[i] += d[day]
		}
		distances[i] = math.Abs(distances[i] - sum)
	}
	result.P = PValue(math.Abs(sum), distances)
	return result, nil
}
