package profit

import (
	"fmt"
	"strconv"

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
