package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
)

// The most parameters whose importance and slices are drawn, the most values of a slice, and the
// most dots of the history.
const (
	importanceAxes  = 12
	importanceBins  = 12
	sliceAxes       = 9
	sliceBins       = 24
	historyDots     = 500
	historyQuantile = 0.05 // sets below it are not in the picture
)

// A weighed is a parameter with the part of the objective's variance that it explains alone.
type weighed struct {
	axis
	part float64
}

// weigh are the parameters with several values, the most important first.
func (s *Sweep) weigh() (list []weighed) {
	axes, _ := s.axes(importanceAxes)
	var values []float64
	var places [][]int
	for _, t := range s.Found.Tries {
		if t.Valued() {
			values, places = append(values, t.Value), append(places, s.Space.Places(t.Set))
		}
	}
	group := make([]int, len(values))
	for _, a := range axes {
		a.bins = min(len(a.values), importanceBins)
		for i := range group {
			group[i] = a.bin(places[i][a.dim])
		}
		list = append(list, weighed{a, stats.Explained(values, group)})
	}
	slices.SortStableFunc(list, func(a, b weighed) int { return cmp.Compare(b.part, a.part) })
	return list
}

// matter shows which parameters matter: their importance, and a slice along each.
func (s *Sweep) matter() (parts []view.Part) {
	list := s.weigh()
	if len(list) < 2 {
		return nil // the picture of the only parameter is the map
	}
	var steps []chart.Step
	rest := 1.0
	for _, w := range list {
		if finite(w.part) {
			steps, rest = append(steps, shareStep(w.name, w.part)), rest-w.part
		}
	}
	if len(steps) > 0 && finite(list[0].part) {
		steps = append(steps, shareStep("together, and noise", max(rest, 0)))
		e := stats.Explain(stats.FigureImportance)
		parts = append(parts, view.Figure{Chart: chart.Chart{Label: "importance of the parameters",
			X: chart.Axis{Unit: "% of the variance", High: 110 * max(list[0].part, rest)},
			Panels: []chart.Panel{{Height: 40 + 24*float64(len(steps)),
				Layers: []chart.Layer{chart.Bridge{Role: chart.Main, Steps: steps}}}}},
			Caption: fmt.Sprintf("%s Method: variance explained, ε² of Kelley (first-order, in at most %d classes of "+
				"neighbouring values). %s", e.Says, importanceBins, e.SaysNot)})
	}
	var slicesOf view.Small
	for _, w := range list[:min(len(list), sliceAxes)] {
		slicesOf = append(slicesOf, s.slice(w.axis))
	}
	return append(parts, slicesOf, view.Page{Part: view.Note("A picture for each parameter, the most important " +
		"first: the " + s.objective() + " of all sets with a value. The line is the middle set, the bands have 50 " +
		"and 90 in 100 sets, the dashed line is the best one, the diamond the best of all.")})
}

// shareStep is a bar from zero.
func shareStep(name string, part float64) chart.Step {
	return chart.Step{Name: name, Label: fmt.Sprintf("%.0f %%", 100*part), To: 100 * part}
}

// slice is the objective by the values of a parameter.
func (s *Sweep) slice(a axis) view.Figure {
	a.bins = min(len(a.values), sliceBins)
	numbers, unit := s.Space.Dimensions()[a.dim].Numbers()
	x := make([]float64, a.bins)
	for place := len(a.values) - 1; place >= 0; place-- {
		if x[a.bin(place)] = float64(place + 1); numbers != nil {
			x[a.bin(place)] = numbers[place]
		}
	}
	values := make([][]float64, a.bins)
	for _, t := range s.Found.Tries {
		if t.Valued() {
			bin := a.bin(s.Space.Places(t.Set)[a.dim])
			values[bin] = append(values[bin], t.Value)
		}
	}
	var order []int
	single := true
	for bin := range values {
		if slices.Sort(values[bin]); len(values[bin]) > 0 {
			order, single = append(order, bin), single && len(values[bin]) == 1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	fan := chart.Fan{Quantiles: make([][]float64, 5)}
	top := chart.Line{Role: chart.Ink, Dashed: true, Width: 1}
	for _, bin := range order {
		fan.X = append(fan.X, x[bin])
		for row, part := range [...]float64{0.05, 0.25, 0.5, 0.75, 0.95} {
			fan.Quantiles[row] = append(fan.Quantiles[row], stats.Quantile(part, values[bin]))
		}
		top.Points = append(top.Points, chart.Point{X: x[bin], Y: values[bin][len(values[bin])-1]})
	}
	layers := []chart.Layer{fan, top}
	if single {
		layers = []chart.Layer{chart.Line{Points: top.Points}}
	}
	if best := s.Found.Winner; best != nil {
		layers = append(layers, chart.Marks{Role: chart.Ink, Shape: chart.Diamond, Size: 10,
			Points: []chart.Point{{X: x[a.bin(s.Space.Places(best.Set)[a.dim])], Y: best.Value}}})
	}
	if unit != "" {
		unit = " (" + unit + ")"
	}
	caption := ""
	if numbers == nil {
		caption = "Values that are no number stand in their order, from 1: " + named(a.values) + "."
	}
	return view.Figure{Chart: chart.Chart{Label: s.objective() + " by " + a.name, X: chart.Axis{Unit: a.name + unit},
		Panels: []chart.Panel{{Height: 220, Y: chart.Axis{Unit: s.objective()}, Layers: layers}}}, Caption: caption}
}

// alone is the slice of the only parameter.
func (s *Sweep) alone(a axis) view.Figure {
	f := s.slice(a)
	f.Caption = strings.TrimSpace(fmt.Sprintf("%s by %s. %s", s.objective(), a.name, f.Caption))
	return f
}

// named lists values, the first and the last of many.
func named(values []string) string {
	text := ""
	for i, v := range values {
		if i >= 5 && i < len(values)-1 {
			continue
		}
		if text != "" {
			text += ", "
		}
		if i == len(values)-1 && len(values) > 6 {
			text += "…, "
		}
		text += v
	}
	return text
}

// history is the way of the search: its sets in their order, and the best so far.
func (s *Sweep) history() []view.Part {
	order := s.Found.InOrder()
	every := (len(order) + historyDots - 1) / max(historyDots, 1)
	var dots, best, all = []chart.Point(nil), []chart.Point(nil), []float64(nil)
	last := 0
	for i, t := range order {
		n := float64(i + 1)
		if t.Valued() {
			all = append(all, t.Value)
			if i%every == 0 {
				dots = append(dots, chart.Point{X: n, Y: t.Value})
			}
		}
		if t.Ranked() && (len(best) == 0 || t.Value > best[len(best)-1].Y) {
			if len(best) > 0 {
				best = append(best, chart.Point{X: n, Y: best[len(best)-1].Y})
			}
			best, last = append(best, chart.Point{X: n, Y: t.Value}), i+1
		}
	}
	if len(best) == 0 || len(dots) == 0 || len(all) < 10 {
		return nil
	}
	best = append(best, chart.Point{X: float64(len(order)), Y: best[len(best)-1].Y})
	slices.Sort(all)
	low, high := stats.Quantile(historyQuantile, all), all[len(all)-1]
	if room := (high - low) / 15; room > 0 {
		low, high = low-room, high+room
	} else {
		low, high = math.Min(low, high)-1, high+1
	}
	drawn := ""
	if every > 1 {
		drawn = fmt.Sprintf(" One set in %d is drawn.", every)
	}
	tail := "A search whose last steps still rise is not at its end."
	if m := s.Outcome.Identity.Method; m == research.Grid || m == research.Random {
		tail = "Of a " + string(m) + " search the order has no meaning: the steps only show how rare good sets are."
	}
	layers := []chart.Layer{chart.Marks{Name: "sets", Size: 4, Points: dots},
		chart.Line{Name: "the best so far", Role: chart.Ink, Width: 2, Points: best}}
	return []view.Part{view.Figure{Chart: chart.Chart{Label: "history of the search", X: chart.Axis{Unit: "sets tried"},
		Panels: []chart.Panel{{Height: 240, Y: chart.Axis{Unit: s.objective(), Low: low, High: high}, Layers: layers}}},
		Caption: fmt.Sprintf("Each dot is a set, in the order in which they ran; the line is the best one so far. The "+
			"best came as number %s of %s.%s The lowest 5 in 100 lie below the picture. %s", number(last),
			number(len(order)), drawn, tail)}}
}
