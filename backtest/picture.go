package backtest

import "github.com/tidemark-trading/tidemark/chart"

// picture draws equity, buy and hold, and the drawdown as an SVG element for a page with
// chart.Style.
func picture(equity, hold []chart.Point, currency string) ([]byte, error) {
	var upper []chart.Layer
	if len(hold) > 0 {
		upper = append(upper, chart.Line{Name: "buy and hold", Role: chart.Quiet, Width: 1, Points: hold})
	}
	upper = append(upper, chart.Line{Name: "equity", Points: equity})
	lower := []chart.Layer{chart.Area{Role: chart.Down, Points: drawdowns(equity)}}
	c := chart.Chart{Label: "equity and drawdown over time", Times: true, Panels: []chart.Panel{
		{Height: 260, Y: chart.Axis{Unit: currency}, Layers: upper},
		{Height: 130, Y: chart.Axis{Unit: "% below the peak"}, Layers: lower},
	}}
	return c.Element()
}

// drawdowns turns equity into per cent below the highest value before.
func drawdowns(equity []chart.Point) []chart.Point {
	falls := make([]chart.Point, 0, len(equity))
	peak := 0.0
	for _, e := range equity {
		peak = max(peak, e.Y)
		depth := 0.0
		if peak > 0 {
			depth = 100 * (e.Y/peak - 1)
		}
		falls = append(falls, chart.Point{X: e.X, Y: depth})
	}
	return falls
}
