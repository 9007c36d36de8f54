package stats

import (
	"cmp"
	"math"
	"slices"
)

// Hill is a top of a grid with the sets around it.
type Hill struct {
	Top     int     // its place in the values
	Sets    int     // of the hill, the top included
	Plateau Plateau // of the top
}

// Hills are the tops of a grid, the best first: sets from which every way to a better set, over
// neighbours, falls below half of their own lead over the median set. The sets of a hill are those
// that such a way reaches without falling below it. values, steps and neighbours are those of
// PlateauOf; of equal sets the first is the better one.
// Source: our own definition; the prominence of a mountain, in parts of its lead.
func Hills(values []float64, steps []int) (hills []Hill) {
	all := known(slices.Clone(values))
	if len(all) == 0 {
		return nil
	}
	median := Quantile(0.5, all)
	var order []int
	for place, value := range values {
		if value > median {
			order = append(order, place)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	rank, seen := make([]int, len(values)), make([]int, len(values)) // seen from the top of that rank
	for i, place := range order {
		rank[place] = i + 1
	}
	for _, top := range order {
		level, way, better := median+Alone*(values[top]-median), []int{top}, false
		for at := 0; at < len(way) && !better; at++ {
			for _, next := range neighbours(steps, way[at]) {
				if next == top || seen[next] == rank[top] || !(values[next] >= level) {
					continue
				}
				if better = rank[next] < rank[top]; better {
					break
				}
				seen[next], way = rank[top], append(way, next)
			}
		}
		if better {
			continue
		}
		var near []float64
		for _, i := range neighbours(steps, top) {
			near = append(near, values[i])
		}
		p, _ := plateau(values[top], known(near), all)
		hills = append(hills, Hill{top, len(way), p})
	}
	return hills
}

// Explained is the part of the variance of values that their groups explain, less what as many
// groups explain by chance; NaN where it is not known. group has the group of each value, from 0.
// Source: Kelley 1935, "An Unbiased Correlation Ratio Measure". Formula:
// ε² = max(0, (between − (k−1)·within/(n−k)) ÷ all), sums of squares of n values in k groups.
func Explained(values []float64, group []int) float64 {
	var sums, counts []float64
	mean := 0.0
	for i, value := range values {
		for group[i] >= len(sums) {
			sums, counts = append(sums, 0), append(counts, 0)
		}
		sums[group[i]], counts[group[i]] = sums[group[i]]+value, counts[group[i]]+1
		mean += value / float64(len(values))
	}
	all, between, k := 0.0, 0.0, 0.0
	for _, value := range values {
		all += (value - mean) * (value - mean)
	}
	for i, sum := range sums {
		if counts[i] > 0 {
			off := sum/counts[i] - mean
			between, k = between+counts[i]*off*off, k+1
		}
	}
	free := float64(len(values)) - k
	if !(all > 0) || free <= 0 {
		return math.NaN()
	}
	return max(0, (between-(k-1)*(all-between)/free)/all)
}
