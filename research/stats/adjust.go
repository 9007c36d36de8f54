package stats

import (
	"math"
	"slices"
)

// Bonferroni are p-values of m tests adjusted so that the least one is below 0.05 in at most 5 of
// 100 searches without any edge, whatever the tests' correlation. The order of the p-values stays.
// Source: Bonferroni 1936. Formula: min(1, m·p).
func Bonferroni(p []float64) []float64 {
	adjusted := make([]float64, len(p))
	for i, one := range p {
		adjusted[i] = min(1, float64(len(p))*one)
	}
	return adjusted
}

// Holm are p-values that hold the same as Bonferroni's, and are never larger. The order stays.
// Source: Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
// Formula: for the j-th least of m, the running maximum of min(1, (m−j+1)·p).
func Holm(p []float64) []float64 {
	adjusted, order := make([]float64, len(p)), ascending(p)
	var last float64
	for j, i := range order {
		last = max(last, min(1, float64(len(p)-j)*p[i]))
		adjusted[i] = last
	}
	return adjusted
}

// BHY are p-values adjusted so that of the sets below 0.05 at most 5 of 100 are without an edge, on
// average and whatever the tests' correlation. The order stays.
// Source: Benjamini & Yekutieli 2001, "The Control of the False Discovery Rate in Multiple Testing
// under Dependency". Formula: for the j-th least of m, the running minimum from the greatest down
// of min(1, m·c·p/j), c = Σ 1/k, k = 1…m.
func BHY(p []float64) []float64 {
	adjusted, order := make([]float64, len(p)), ascending(p)
	var c float64
	for k := range p {
		c += 1 / float64(k+1)
	}
	last := 1.0
	for j, i := range slices.Backward(order) {
		last = min(last, float64(len(p))*c*p[i]/float64(j+1))
		adjusted[i] = last
	}
	return adjusted
}

// ascending are the places of values, the least value first. Equal values get equal adjusted ones
// in any order.
func ascending(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	return order
}

// Plateau says whether the winner of a grid stands alone.
type Plateau struct {
	// Score is the part of the winner's lead over the median set that its neighbours have, too: the
	// median of the neighbours. 1: they are as good as the winner; 0: they are like any set.
	Score      float64
	Neighbours int     // neighbours with a value
	Worst      float64 // the least value of a neighbour
	Median     float64 // the median of the neighbours
	All        float64 // the median of all sets
}

// Alone is the Score below which a winner stands alone: its neighbours have less than half of its
// lead.
const Alone = 0.5

// PlateauOf compares a set of a grid with its neighbours, which differ from it by at most one step
// in each dimension. values are those of the objective, the last dimension fastest, NaN for sets
// that did not run; steps is the number of values of each dimension; at is the set's place in
// values. It reports false if there is no neighbour with a value, or if the set has no value or
// none above the median of all.
// Source: our own definition. Formula: (median of neighbours − median of all)/(value − median of
// all); medians are values, as Quantile.
func PlateauOf(values []float64, steps []int, at int) (Plateau, bool) {
	var near []float64
	for _, i := range neighbours(steps, at) {
		near = append(near, values[i])
	}
	return plateau(values[at], known(near), known(slices.Clone(values)))
}

// plateau compares a value with neighbours and all, which are ascending.
func plateau(value float64, near, all []float64) (Plateau, bool) {
	if len(near) == 0 || math.IsNaN(value) {
		return Plateau{}, false
	}
	p := Plateau{Neighbours: len(near), Worst: near[0], Median: Quantile(0.5, near), All: Quantile(0.5, all)}
	p.Score = (p.Median - p.All) / (value - p.All)
	return p, value > p.All
}

// known are values but NaN, ascending, in the same memory.
func known(values []float64) []float64 {
	values = slices.DeleteFunc(values, math.IsNaN)
	slices.Sort(values)
	return values
}

// neighbours are the places of a grid that differ from one by at most a step in each dimension,
// itself left out, ascending.
func neighbours(steps []int, at int) (places []int) {
	places = []int{0} // of the dimensions so far
	stride := 1
	for _, n := range steps {
		stride *= n
	}
	rest := at
	for _, n := range steps {
		stride /= n
		own := rest / stride
		rest %= stride
		var next []int
		for _, place := range places {
			for i := max(0, own-1); i <= min(n-1, own+1); i++ {
				next = append(next, place+i*stride)
			}
		}
		places = next
	}
	return slices.DeleteFunc(places, func(place int) bool { return place == at })
}
