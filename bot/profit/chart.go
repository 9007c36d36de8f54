package profit

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/view/chart"
)

// EquityChart is the chart of a curve, with its drawdown below; nil: the curve has fewer than two
// samples.
func EquityChart(c *Curve) (*chart.Chart, error) {
	if c == nil || len(c.Samples) < 2 {
		return nil, nil
	}
	zone, err := Zone(c.Zone)
	if err != nil {
		return nil, err
	}
	equity, fall := make([]chart.Point, 0, len(c.Samples)), make([]chart.Point, 0, len(c.Samples))
	peak := 0.0
	for i := range c.Samples {
		s := &c.Samples[i]
		value, err := strconv.ParseFloat(s.Equity, 64)
		if err != nil {
			return nil, fmt.Errorf("equity %q: %w", s.Equity, err)
		}
		peak = max(peak, s.Index)
		at := float64(s.AtMS) / 1000
		equity = append(equity, chart.Point{X: at, Y: value})
		fall = append(fall, chart.Point{X: at, Y: 100 * (s.Index/peak - 1)})
	}
	panels := []chart.Panel{{Height: 200, Y: chart.Axis{Unit: c.Currency}, Layers: []chart.Layer{
		chart.Line{Name: "Equity", Points: equity}}}}
	if !c.Earned {
		panels = append(panels, chart.Panel{Height: 80, Y: chart.Axis{Unit: "%"}, Layers: []chart.Layer{
			chart.Area{Name: "Drawdown", Role: chart.Down, Points: fall}}})
	}
	return &chart.Chart{Label: "Equity and drawdown over time", Times: true, Zone: zone, Panels: panels}, nil
}

// DaysChart is the chart of a report by day: what each day earned, and the sum; nil: the report has
// fewer than two days.
func DaysChart(r *ProfitReport) (*chart.Chart, error) {
	if r == nil || r.By != ByDay || len(r.Groups) < 2 {
		return nil, nil
	}
	zone, err := Zone(r.Zone)
	if err != nil {
		return nil, err
	}
	var bars []chart.Bar
	sum := 0.0
	line := []chart.Point{{X: float64(r.Groups[0].FromMS) / 1000}}
	for i := range r.Groups {
		g := &r.Groups[i]
		day := 0.0
		for _, text := range [...]string{g.Realised, g.Unrealised} {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("profit of %s: %q: %w", g.Name, text, err)
			}
			day += value
		}
		from := float64(g.FromMS) / 1000
		to := float64(time.UnixMilli(g.FromMS).In(zone).AddDate(0, 0, 1).Unix())
		sum += day
		bars, line = append(bars, chart.Bar{From: from, To: to, Value: day}), append(line, chart.Point{X: to, Y: sum})
	}
	return &chart.Chart{Label: "Profit of each day, and their sum", Times: true, Zone: zone, Panels: []chart.Panel{
		{Height: 120, Y: chart.Axis{Unit: r.Currency + " of the day"}, Layers: []chart.Layer{chart.Bars{Bars: bars}}},
		{Height: 90, Y: chart.Axis{Unit: r.Currency + " in sum"}, Layers: []chart.Layer{chart.Line{Points: line}}},
	}}, nil
}
