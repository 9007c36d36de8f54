package stats

import (
	"math"
	"slices"
)

// RankCorrelation is that of Spearman: the correlation of the ranks of x and y, which have one
// length. Equal values share the mean of their ranks. Pairs with a NaN are left out. It is NaN for
// fewer than two pairs, and where all x or all y are equal.
// Source: Spearman 1904, "The Proof and Measurement of Association between Two Things".
func RankCorrelation(x, y []float64) float64 {
	var a, b []float64
	for i := range x {
		if !math.IsNaN(x[i]) && !math.IsNaN(y[i]) {
			a, b = append(a, x[i]), append(b, y[i])
		}
	}
	if len(a) < 2 || slices.Min(a) == slices.Max(a) || slices.Min(b) == slices.Max(b) {
		return math.NaN()
	}
	a, b = ranks(a), ranks(b)
	middle := float64(len(a)+1) / 2 // the mean of ranks, with ties too
	var xx, xy, yy float64
	for i := range a {
		dx, dy := a[i]-middle, b[i]-middle
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
	}
	return xy / math.Sqrt(xx*yy)
}

// ranks are the ranks of values, from 1; equal values share the mean of theirs.
func ranks(values []float64) []float64 {
	order := ascending(values)
	ranks := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+to+1) / 2
		}
		from = to
	}
	return ranks
}
