package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
)

// halves are annual Sharpe ratios of the distinct series of a sweep, by place. A half without any
// change has 0.
type halves struct {
	excess                    []float64 // of all days, in excess of a hold
	first, second             []float64 // of the halves of the days
	firstExcess, secondExcess []float64 // the same in excess of a hold
	band                      *band
	tries                     []*research.Try
}

// halves reads the daily returns, a series at a time.
func (s *Sweep) halves() (*halves, error) {
	h := &halves{tries: s.Found.Distinct()}
	h.band = newBand(s.Found.From, s.Found.Days, len(h.tries))
	row := make([]float64, s.Found.Days)
	for _, t := range h.tries {
		row := row[:t.Days()]
		middle := len(row) / 2
		if err := s.Found.Returns(t, row); err != nil {
			return nil, err
		}
		h.band.add(t.First(), row)
		h.first = append(h.first, stats.Annual(stats.Sharpe(row[:middle])))
		h.second = append(h.second, stats.Annual(stats.Sharpe(row[middle:])))
		if err := s.Found.Excess(t, row); err != nil {
			return nil, err
		}
		h.excess = append(h.excess, stats.Annual(stats.Sharpe(row)))
		h.firstExcess = append(h.firstExcess, stats.Annual(stats.Sharpe(row[:middle])))
		h.secondExcess = append(h.secondExcess, stats.Annual(stats.Sharpe(row[middle:])))
	}
	return h, nil
}

// classes is the number of bars for so many values.
func classes(n int) int { return min(max(n/5, 9), 48) }

// luck holds the Sharpe ratios of all series against those of worthless sets, and against the bar.
func (s *Sweep) luck(h *halves) []view.Part {
	v := s.Outcome.Judged()
	n, deviation := float64(len(h.excess)), 1/math.Sqrt(v.Luck.Years)
	if len(h.excess) == 0 || !finite(deviation) {
		return nil
	}
	ascending := slices.Sorted(slices.Values(h.excess))
	low := min(stats.Quantile(0.02, ascending), -4*deviation)
	for i := range ascending {
		ascending[i] = max(ascending[i], low)
	}
	bars := chart.Histogram(ascending, classes(len(ascending)))
	width, high := bars[0].To-bars[0].From, 0.0
	for _, b := range bars {
		high = max(high, b.Value)
	}
	var worthless []chart.Point
	for i := -80; i <= 80; i++ {
		z := float64(i) / 20
		y := n * width / deviation * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		worthless = append(worthless, chart.Point{X: z * deviation, Y: y})
		high = max(high, y)
	}
	layers := []chart.Layer{view.Upright("bar of luck", chart.Down, v.Luck.Bar, high),
		chart.Bars{Name: "sets", Role: chart.Main, Bars: bars},
		chart.Line{Name: "worthless sets", Role: chart.Quiet, Points: worthless},
		view.Upright("expected best", chart.Second, v.Luck.Expected, 0.6*high)}
	if v.Excess.Defined() {
		layers = append(layers, chart.Marks{Name: "the best", Role: chart.Ink, Shape: chart.Falling, Size: 12,
			Points: []chart.Point{{X: float64(v.Excess), Y: high / 25}}})
	}
	return []view.Part{view.Figure{Chart: chart.Chart{Label: "Sharpe ratios of all sets, and of worthless ones",
		X: chart.Axis{Unit: "Sharpe in excess of hold"}, Panels: []chart.Panel{{Height: 260, Layers: layers}}},
		Caption: fmt.Sprintf("The bars count the %s different series of returns; the triangle is the best. "+
			"The curve is how "+
			"as many worthless, independent sets would lie; the best of them passes the bar of luck in 5 of 100 "+
			"searches. Sets that are alike lie closer together, and fees move them to the left: neither says that the "+
			"best has an edge. The leftmost bar has all that lie further out.", number(len(h.excess)))}}
}

// maxDots is the most dots of a scatter plot.
const maxDots = 1500

// stability holds the first half of the days against the second.
func (s *Sweep) stability(h *halves) []view.Part {
	raw := stats.RankCorrelation(h.first, h.second)
	excess := stats.RankCorrelation(h.firstExcess, h.secondExcess)
	if !finite(raw) {
		return nil
	}
	every := (len(h.tries) + maxDots - 1) / maxDots
	place := map[*research.Try]int{}
	var dots, best []chart.Point
	for i, t := range h.tries {
		place[t] = i
		if i%every == 0 {
			dots = append(dots, chart.Point{X: h.first[i], Y: h.second[i]})
		}
	}
	for _, t := range s.Found.Tries[:min(len(s.Found.Tries), len(s.Outcome.Top))] {
		if i, has := place[t]; has {
			best = append(best, chart.Point{X: h.first[i], Y: h.second[i]})
		}
	}
	layers := []chart.Layer{chart.Marks{Name: "sets", Role: chart.Main, Size: 4, Points: dots}}
	if len(best) > 0 {
		layers = append(layers,
			chart.Marks{Name: "the best ten by all days", Role: chart.Ink, Size: 7, Points: best},
			chart.Marks{Name: "the best", Role: chart.Ink, Shape: chart.Diamond, Size: 11, Points: best[:1]})
	}
	e := stats.Explain(stats.FigureRank)
	drawn := ""
	if every > 1 {
		drawn = fmt.Sprintf(" One set in %d is drawn.", every)
	}
	return []view.Part{
		view.Figure{Chart: chart.Chart{Label: "Sharpe ratios of both halves", X: chart.Axis{Unit: "Sharpe, first half"},
			Panels: []chart.Panel{{Height: 340, Y: chart.Axis{Unit: "Sharpe, second half"}, Layers: layers}}},
			Caption: "A dot is a set: its Sharpe ratio in the first half of the days, and in the second." + drawn},
		view.Page{Part: view.Findings{
			{Name: e.Name, Value: fmt.Sprintf("%.2f", raw), Says: e.Says, SaysNot: e.SaysNot},
			{Name: "the same in excess of a hold", Value: figure(excess, 2),
				Says: "Without the part that a hold at each set's own exposure " +
					"earns: in a market that rises in both halves, sets that hold more are better in both.",
				SaysNot: ""},
		}},
	}
}

// figure writes a number; "–" where there is none.
func figure(x float64, digits int) string {
	if !finite(x) {
		return "–"
	}
	return fmt.Sprintf("%.*f", digits, x)
}

// logitClasses is the number of bars of the distribution of logits.
const logitClasses = 41

// splits is the distribution of PBO's logits.
func (s *Sweep) splits() []view.Part {
	o := s.Outcome.Splits
	if o == nil {
		return []view.Part{view.Page{Part: view.Text("PBO is missing: " + s.Outcome.Verdict.PBO.Missing + ".")}}
	}
	reach := max(-slices.Min(o.Logits), slices.Max(o.Logits))
	bars := chart.Histogram(append(slices.Clone(o.Logits), -reach, reach), logitClasses)
	bars[0].Value, bars[len(bars)-1].Value = bars[0].Value-1, bars[len(bars)-1].Value-1 // the ends of the axis
	high := 0.0
	var below, above []chart.Bar
	middle := bars[len(bars)/2].To // a rank in the very middle counts as below it
	for _, b := range bars {
		high = max(high, b.Value)
		if b.To <= middle {
			below = append(below, b)
		} else {
			above = append(above, b)
		}
	}
	return []view.Part{
		view.Figure{Chart: chart.Chart{Label: "logits of the splits", X: chart.Axis{Unit: "logit of the rank"},
			Panels: []chart.Panel{{Height: 200, Y: chart.Axis{Unit: "splits"}, Layers: []chart.Layer{
				chart.Bars{Name: "below the middle", Role: chart.Down, Bars: below},
				chart.Bars{Name: "above", Role: chart.Main, Bars: above},
				view.Upright("the middle", chart.Ink, 0, high)}}}},
			Caption: fmt.Sprintf("%s splits of the days in two halves: the rank, in one half, of the set that "+
				"won the other, "+
				"as ln(ω/(1−ω)) with ω the share of sets that it beats.", number(o.Splits))},
		view.Page{Part: view.Findings{FindingOf(stats.FigurePBO, fmt.Sprintf("%.3f", o.PBO)),
			FindingOf(stats.FigureSlope, fmt.Sprintf("%.2f", o.Slope)),
			FindingOf(stats.FigureLoss, fmt.Sprintf("%.3f", o.Loss))}},
	}
}
