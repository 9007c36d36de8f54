package report

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
)

// The most lines of parallel coordinates, the most of the best tenth, and the most axes.
const (
	maxStrands     = 300
	maxBestStrands = 150
	strandAxes     = 8
)

// Strands are all parameters and the objective as parallel coordinates. It is false where there are
// too few sets or parameters.
func (s *Sweep) Strands() (f view.Figure, is bool) {
	if parts := s.parallel(); len(parts) > 0 {
		f, is = parts[0].(view.Figure)
	}
	return f, is
}

// parallel draws all parameters and the objective as parallel coordinates.
func (s *Sweep) parallel() []view.Part {
	var ranked []*research.Try
	for _, t := range s.Found.Tries {
		if t.Ranked() {
			ranked = append(ranked, t)
		}
	}
	axes, left := s.axes(strandAxes)
	if len(ranked) < 10 || len(axes) < 2 {
		return nil
	}
	values := make([]float64, len(ranked)) // ascending
	for i, t := range ranked {
		values[len(values)-1-i] = t.Value
	}
	low, high := stats.Quantile(0.05, values), values[len(values)-1]
	if !(low < high) {
		return nil
	}
	strand := func(t *research.Try) []float64 {
		places, line := s.Space.Places(t.Set), []float64(nil)
		for _, a := range axes {
			line = append(line, float64(places[a.dim])/float64(len(a.values)-1))
		}
		return append(line, min(max((t.Value-low)/(high-low), 0), 1))
	}
	tenth := len(ranked) / 10
	best, rest := thinned(ranked[:tenth], maxBestStrands, strand), thinned(ranked[tenth:], maxStrands, strand)
	scales := scalesOf(axes)
	scales = append(scales, chart.Scale{Name: s.objective(), Labels: []string{"≤ " + figure(low, 2),
		figure((low+high)/2, 2), figure(high, 2)}})
	caption := fmt.Sprintf("A line is a set: where it crosses an axis is its value of that parameter, and at the "+
		"right end the objective. %d of the best tenth and %d of the others are drawn, evenly by rank. Where the "+
		"best bundle, a parameter matters; a bundle does not say that the edge is real: sets that trade alike are "+
		"lucky together.", len(best), len(rest))
	if left > 0 {
		caption += fmt.Sprintf(" The %d parameters along which the objective changes least are left out.", left)
	}
	return []view.Part{view.Figure{Chart: chart.Chart{Label: "all parameters and the objective", Panels: []chart.Panel{{
		Height: 320,
		Layers: []chart.Layer{
			chart.Parallel{Name: "sets", Role: chart.Grid, Width: 0.8, Axes: scales, Lines: rest},
			chart.Parallel{Name: "the best tenth", Role: chart.Main, Width: 0.9, Axes: scales, Lines: best},
			chart.Parallel{Name: "the best", Role: chart.Ink, Width: 2.5, Axes: scales, Lines: best[:1]},
		}}}}, Caption: caption}}
}

// scalesOf are the axes with the labels of up to five values.
func scalesOf(axes []axis) (scales []chart.Scale) {
	for _, a := range axes {
		one := chart.Scale{Name: a.name, Labels: a.values}
		if n := len(a.values); n > 5 {
			one.Labels = []string{a.values[0], a.values[(n-1)/2], a.values[n-1]}
			if n%2 == 0 {
				one.Labels = []string{a.values[0], a.values[n-1]}
			}
		}
		scales = append(scales, one)
	}
	return scales
}

// thinned are the lines of at most so many tries, evenly spread.
func thinned(tries []*research.Try, most int, line func(*research.Try) []float64) (lines [][]float64) {
	n := min(len(tries), most)
	for i := range n {
		lines = append(lines, line(tries[i*len(tries)/n]))
	}
	return lines
}
