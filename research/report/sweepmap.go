package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
)

// The most columns and rows of a map, and parameters whose pairs are drawn: 15 pairs.
const (
	mapColumns = 32
	mapRows    = 20
	mapAxes    = 6
)

// An axis is a dimension of the space, in bins of neighbouring values.
type axis struct {
	dim    int // its place in the space
	name   string
	values []string
	bins   int
}

// bin is the bin of a value.
func (a *axis) bin(place int) int { return place * a.bins / len(a.values) }

// labels are the first values of the bins.
func (a *axis) labels() []string {
	labels := make([]string, a.bins)
	for place := len(a.values) - 1; place >= 0; place-- {
		labels[a.bin(place)] = a.values[place]
	}
	return labels
}

// axes are the dimensions with several values; of many, those along which the objective changes
// most.
func (s *Sweep) axes(most int) (axes []axis, left int) {
	names := s.Space.Names()
	for i, d := range s.Space.Dimensions() {
		if len(d.Values) > 1 {
			axes = append(axes, axis{dim: i, name: names[i], values: d.Values})
		}
	}
	if len(axes) <= most {
		return axes, 0
	}
	change := map[int]float64{}
	for _, a := range axes {
		a.bins = min(len(a.values), mapRows)
		means := s.means(a.bins, func(places []int) (int, bool) { return a.bin(places[a.dim]), true })
		change[a.dim] = spread(means)
	}
	left = len(axes) - most
	slices.SortStableFunc(axes, func(a, b axis) int { return cmp.Compare(change[b.dim], change[a.dim]) })
	axes = axes[:most]
	slices.SortFunc(axes, func(a, b axis) int { return a.dim - b.dim })
	return axes, left
}

// spread is the standard deviation of values but NaN.
func spread(values []float64) float64 {
	values = slices.DeleteFunc(values, math.IsNaN)
	mean, square := 0.0, 0.0
	for _, x := range values {
		mean += x / float64(len(values))
	}
	for _, x := range values {
		square += (x - mean) * (x - mean)
	}
	return math.Sqrt(square / max(float64(len(values)), 1))
}

// means are the mean objectives of n cells; cell tells the cell of a set, or that it has none. A
// cell without a set is NaN.
func (s *Sweep) means(n int, cell func(places []int) (int, bool)) []float64 {
	sums, counts := make([]float64, n), make([]float64, n)
	for _, t := range s.Found.Tries {
		if !t.Valued() {
			continue
		}
		if at, is := cell(s.Space.Places(t.Set)); is {
			sums[at], counts[at] = sums[at]+t.Value, counts[at]+1
		}
	}
	for i := range sums {
		sums[i] /= counts[i]
	}
	return sums
}

// maps are pictures of the objective over two parameters, for each pair of them.
func (s *Sweep) maps() []view.Part {
	axes, left := s.axes(mapAxes)
	if len(axes) == 1 {
		return []view.Part{s.alone(axes[0])}
	}
	choice := view.Choice{Label: "parameters"}
	for _, p := range pairsOf(axes) {
		choice.Options = append(choice.Options, s.pair(p[0], p[1], len(axes)))
	}
	parts := []view.Part{choice}
	if left > 0 {
		parts = append(parts, view.Note(fmt.Sprintf("Pairs of the %d parameters along which the objective changes "+
			"most; %d others are left out.", len(axes), left)))
	}
	return parts
}

// pairsOf are the pairs of axes in their order.
func pairsOf(axes []axis) (pairs [][2]axis) {
	for i := range axes {
		for j := i + 1; j < len(axes); j++ {
			pairs = append(pairs, [2]axis{axes[i], axes[j]})
		}
	}
	return pairs
}

// Pairs are the names of the maps that Map draws: pairs of parameters, or the only one.
func (s *Sweep) Pairs() (names []string) {
	axes, _ := s.axes(mapAxes)
	if len(axes) == 1 {
		return []string{axes[0].name}
	}
	for _, p := range pairsOf(axes) {
		names = append(names, pairName(p[0], p[1]))
	}
	return names
}

func pairName(x, y axis) string { return x.name + " × " + y.name }

// Map is the objective over the pair of parameters of a name of Pairs; of another name: over the
// first pair. It is false where nothing varies.
func (s *Sweep) Map(name string) (f view.Figure, is bool) {
	axes, _ := s.axes(mapAxes)
	if len(axes) == 1 {
		return s.alone(axes[0]), true
	}
	pairs := pairsOf(axes)
	if len(pairs) == 0 {
		return f, false
	}
	at := max(slices.IndexFunc(pairs, func(p [2]axis) bool { return pairName(p[0], p[1]) == name }), 0)
	f, is = s.pair(pairs[at][0], pairs[at][1], len(axes)).Parts[0].(view.Figure)
	return f, is
}

// pair is the map of two parameters: the mean over all others, and the cut through the best set.
func (s *Sweep) pair(x, y axis, axes int) view.Option {
	x.bins, y.bins = min(len(x.values), mapColumns), min(len(y.values), mapRows)
	cell := func(places []int) (int, bool) { return y.bin(places[y.dim])*x.bins + x.bin(places[x.dim]), true }
	panels := []chart.Panel{s.panel(&x, &y, "", s.means(x.bins*y.bins, cell))}
	caption := fmt.Sprintf("%s by %s (across) and %s (up)", s.objective(), x.name, y.name)
	if axes > 2 {
		caption = "Mean " + caption + ", over all values of the other parameters"
	}
	if best := s.Found.Winner; best != nil && axes > 2 && s.Outcome.Identity.Method == research.Grid {
		own := s.Space.Places(best.Set)
		cut := s.means(x.bins*y.bins, func(places []int) (int, bool) {
			for i := range places {
				if i != x.dim && i != y.dim && places[i] != own[i] {
					return 0, false
				}
			}
			return cell(places)
		})
		panels = append(panels, s.panel(&x, &y, "others as in the best", cut))
		caption += "; below it at the best set's other values"
	}
	caption += ". The diamond is the best set. An outline is a plateau: cells that keep at least half of the best " +
		"cell's lead over the median cell, and whose neighbours do. " + stats.Explain(stats.FigurePlateau).SaysNot
	return view.Option{Name: pairName(x, y), Parts: []view.Part{view.Figure{Chart: chart.Chart{
		Label: s.objective() + " by " + x.name + " and " + y.name, X: chart.Axis{Unit: x.name},
		Panels: panels}, Caption: caption}}}
}

// objective is the objective as a title.
func (s *Sweep) objective() string {
	if s.Outcome.Objective == "sharpe" {
		return "Sharpe ratio"
	}
	return s.Outcome.Objective
}

// panel draws cells, their plateaus and the best set.
func (s *Sweep) panel(x, y *axis, title string, cells []float64) chart.Panel {
	high, low := math.Inf(-1), math.Inf(1)
	for _, c := range cells {
		if !math.IsNaN(c) {
			high, low = max(high, c), min(low, c)
		}
	}
	signed := low < 0 && high > 0
	inside, any := plateaus(cells, x.bins)
	values := make([][]float64, y.bins)
	for row := range values {
		values[row] = cells[row*x.bins : (row+1)*x.bins]
		if signed { // what is far below zero would make all else pale
			for i, v := range values[row] {
				values[row][i] = max(v, -high)
			}
		}
	}
	layers := []chart.Layer{chart.HeatMap{Columns: x.labels(), Rows: y.labels(), Values: values, Signed: signed}}
	if any {
		layers = append(layers, chart.Outline{Name: "plateau", Inside: inside})
	}
	if best := s.Found.Winner; best != nil {
		places := s.Space.Places(best.Set)
		layers = append(layers, chart.Marks{Name: "the best set", Role: chart.Ink, Shape: chart.Diamond, Size: 10,
			Points: []chart.Point{{X: float64(x.bin(places[x.dim])), Y: float64(y.bin(places[y.dim]))}}})
	}
	unit := y.name
	if title != "" {
		unit = title
	}
	return chart.Panel{Height: float64(min(max(40+18*y.bins, 120), 340)), Y: chart.Axis{Unit: unit}, Layers: layers}
}

// plateaus are the cells of a map, row by row, that keep at least half of the best cell's lead over
// the median cell, and the median of whose neighbours does, too.
func plateaus(cells []float64, columns int) (inside [][]bool, any bool) {
	all := slices.DeleteFunc(slices.Clone(cells), math.IsNaN)
	rows := len(cells) / columns
	inside = make([][]bool, rows)
	for row := range inside {
		inside[row] = make([]bool, columns)
	}
	if len(all) < 4 {
		return inside, false
	}
	slices.Sort(all)
	median := stats.Quantile(0.5, all)
	least := median + stats.Alone*(all[len(all)-1]-median)
	if !(least > median) {
		return inside, false
	}
	for at, value := range cells {
		near := neighbours(cells, at, columns)
		if value >= least && len(near) > 0 && stats.Quantile(0.5, near) >= least {
			inside[at/columns][at%columns], any = true, true
		}
	}
	return inside, any
}

// neighbours are the values of the cells around one, ascending.
func neighbours(cells []float64, at, columns int) (near []float64) {
	for row := max(at/columns-1, 0); row <= min(at/columns+1, len(cells)/columns-1); row++ {
		for column := max(at%columns-1, 0); column <= min(at%columns+1, columns-1); column++ {
			if i := row*columns + column; i != at && !math.IsNaN(cells[i]) {
				near = append(near, cells[i])
			}
		}
	}
	slices.Sort(near)
	return near
}
