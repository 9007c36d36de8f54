package report

import (
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
)

// The days at which the band of all sets is taken, about, and the most sets that it has: of more,
// only one in two, three … counts. So it holds at most 10 MB, and 5 MB of 10,000 sets.
const (
	bandDays = 60
	bandSets = 20_000
)

// band is the equity and the drawdown of many sets at some days.
type band struct {
	from  market.Time // midnight before the first day
	days  []int       // counted from 1
	every int         // one of so many sets is in it
	seen  int
	// by day, then by set
	equity, fall [][]float32
}

// newBand is the band of so many sets over so many days.
func newBand(from market.Time, days, sets int) *band {
	p := &band{from: market.FloorTo(from, dayLength), every: (sets + bandSets - 1) / bandSets}
	step := (days + bandDays - 1) / bandDays
	for day := step; day < days+step; day += step {
		p.days = append(p.days, min(day, days))
	}
	for range p.days {
		room := sets/max(p.every, 1) + 1
		p.equity, p.fall = append(p.equity, make([]float32, 0, room)), append(p.fall, make([]float32, 0, room))
	}
	return p
}

// dayLength is the length of a UTC day.
const dayLength = market.Time(24 * 60 * 60 * 1_000_000_000)

// add adds the daily returns of a set; first is the end of the first of these days.
func (p *band) add(first market.Time, returns []float64) {
	if p.seen++; p.every > 1 && p.seen%p.every != 0 {
		return
	}
	equity, peak, at := 1.0, 1.0, 0
	offset := int((first-p.from)/dayLength) - 1
	for i, day := range p.days {
		for ; at < len(returns) && at+offset < day; at++ {
			equity *= 1 + returns[at]
			peak = max(peak, equity)
		}
		p.equity[i] = append(p.equity[i], float32(equity))
		p.fall[i] = append(p.fall[i], float32(100*(equity/peak-1)))
	}
}

// fan is the band of 90 in 100 sets; first is its value before the first day.
func (p *band) fan(values [][]float32, first float64) chart.Fan {
	fan := chart.Fan{Name: "90 in 100 sets", X: []float64{Seconds(p.from)}, Quantiles: [][]float64{{first}, {first}}}
	sorted := []float64(nil)
	for i, day := range p.days {
		sorted = sorted[:0]
		for _, x := range values[i] {
			sorted = append(sorted, float64(x))
		}
		slices.Sort(sorted)
		fan.X = append(fan.X, Seconds(p.from+market.Time(day)*dayLength))
		for row, part := range [...]float64{0.05, 0.95} {
			fan.Quantiles[row] = append(fan.Quantiles[row], stats.Quantile(part, sorted))
		}
	}
	return fan
}

// falls are the parts in per cent that a growth stands below its peak.
func falls(growth []chart.Point) (list []chart.Point) {
	peak := math.Inf(-1)
	for _, p := range growth {
		peak = max(peak, p.Y)
		list = append(list, chart.Point{X: p.X, Y: 100 * (p.Y/peak - 1)})
	}
	return list
}

// equity holds the best set against a hold and against all sets.
func (s *Sweep) equity(h *halves) ([]view.Part, error) {
	best := s.Found.Winner
	if best == nil || h.band == nil || best.Days() == 0 {
		return nil, nil
	}
	row := make([]float64, best.Days())
	if err := s.Found.Returns(best, row); err != nil {
		return nil, err
	}
	own := grown(backtest.Moment(best.First()), row)
	up, down := []chart.Layer{h.band.fan(h.band.equity, 1)}, []chart.Layer{h.band.fan(h.band.fall, 0)}
	hold := ""
	if s.Again != nil && len(s.Again.Hold) > 0 {
		held := grown(backtest.Moment(s.Again.First), s.Again.Hold)
		up = append(up, chart.Line{Name: "hold", Role: chart.Quiet, Points: held})
		down = append(down, chart.Line{Name: "hold", Role: chart.Quiet, Width: 1, Points: falls(held)})
		hold = " Grey is a hold with all money, without costs."
	}
	up = append(up, chart.Line{Name: "the best set", Width: 2.2, Points: own})
	down = append(down, chart.Line{Name: "the best set", Width: 1.4, Points: falls(own)})
	return []view.Part{view.Figure{Chart: chart.Chart{Label: "equity and drawdown of the best set, a hold and all sets",
		Times: true, Panels: []chart.Panel{{Height: 300, Y: ratio("equity", up), Layers: up},
			{Height: 150, Y: chart.Axis{Unit: "% below the peak"}, Layers: down}}},
		Caption: "Equity on a log scale, from 1, and drawdown. The line is " +
			research.SettingsText(s.Space.Settings(best.Set)) + ", the best set. The band has 90 in 100 of the sets " +
			"on each day." + hold + " The best of many sets always ends near the top of the band: it was chosen for " +
			"that."}}, nil
}

// ratio is a logarithmic axis where all values are above zero.
func ratio(unit string, layers []chart.Layer) chart.Axis {
	for _, layer := range layers {
		low := math.Inf(1)
		switch l := layer.(type) {
		case chart.Line:
			for _, p := range l.Points {
				low = min(low, p.Y)
			}
		case chart.Fan:
			low = slices.Min(l.Quantiles[0])
		}
		if !(low > 1e-6) {
			return chart.Axis{Unit: unit}
		}
	}
	return chart.Axis{Unit: unit + ", log scale", Log: true}
}
