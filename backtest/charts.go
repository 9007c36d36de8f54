package backtest

import (
	"encoding/json"
	"fmt"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// The ids of the charts in report.html. They are fixed, so that the same run gives the same bytes.
const (
	chartCandles  = "chart-candles"
	chartEquity   = "chart-equity"
	chartDrawdown = "chart-drawdown"
	chartTrips    = "chart-trips"
	chartMonths   = "chart-months"
	chartPane     = "chart-pane-" // and the number of the pane
)

// The colours of the charts; they are legible on a light and on a dark page.
const (
	colourUp    = "#2f9e77"
	colourDown  = "#d9534f"
	colourMain  = "#3b7dd8"
	colourQuiet = "#a0894a"
)

// chartOptions returns the options of all charts as one JavaScript object by id. The charts carry
// no data: the page keeps it once, in compact arrays that its script hands to the series.
func chartOptions(res *Result, plotted *plots) ([]byte, error) {
	all := []identified{
		{chartCandles, candleChart(res, plotted)}, {chartEquity, equityChart(res)}, {chartDrawdown, drawdownChart(res)},
		{chartTrips, tripChart(res)}, {chartMonths, monthChart(res)},
	}
	for i, pane := range plotted.panes(plotted.chart) {
		id := fmt.Sprintf("%s%d", chartPane, i)
		all = append(all, identified{id, paneChart(res, id, plotted.on(plotted.chart, pane), plotted)})
	}
	out := []byte{'{'}
	for _, c := range all {
		option, err := json.Marshal(c.chart.JSON())
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", c.id, err)
		}
		out = fmt.Appendf(out, "%q:%s,\n", c.id, option)
	}
	return append(out[:len(out)-2], '}'), nil
}

// identified is a chart and its id.
type identified struct {
	id    string
	chart interface{ JSON() map[string]any }
}

// timeAxis sets the common options of the charts over time: the whole run on the x axis, so that
// one zoom fits all, a grid with equal sides, and optionally a slider.
func timeAxis(res *Result, id, unit string, slider bool) []charts.GlobalOpts {
	zoom := []opts.DataZoom{{Type: "inside", XAxisIndex: []int{0}}}
	bottom := "28"
	if slider {
		zoom, bottom = append(zoom, opts.DataZoom{Type: "slider", XAxisIndex: []int{0}}), "76"
	}
	return []charts.GlobalOpts{
		charts.WithInitializationOpts(opts.Initialization{ChartID: id}),
		charts.WithAnimation(false),
		charts.WithColorsOpts(opts.Colors{colourMain, colourQuiet, colourUp, colourDown}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Top: "0"}),
		charts.WithGridOpts(opts.Grid{Left: "84", Right: "24", Top: "34", Bottom: bottom}),
		charts.WithXAxisOpts(opts.XAxis{Type: "time", Min: int64(res.From) / 1e6, Max: int64(res.To) / 1e6}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Scale: opts.Bool(true), Name: unit}),
		charts.WithDataZoomOpts(zoom...),
	}
}

// manyTrips is the number of round trips above which their marks are drawn small.
const manyTrips = 500

// candleChart shows the candles of the charted market with entries and exits, and what was plotted
// over them.
func candleChart(res *Result, plotted *plots) *charts.Kline {
	chart := charts.NewKLine()
	chart.SetGlobalOptions(timeAxis(res, chartCandles, res.Currency, true)...)
	chart.AddSeries(res.Hold.Market, nil, charts.WithItemStyleOpts(opts.ItemStyle{
		Color: colourUp, Color0: colourDown, BorderColor: colourUp, BorderColor0: colourDown,
	}))
	marks := charts.NewScatter()
	for _, m := range []struct{ name, symbol, colour string }{
		{"entry", "triangle", colourMain}, {"exit, won", "diamond", colourUp}, {"exit, lost", "diamond", colourDown},
	} {
		size, style := 9, opts.ItemStyle{Color: m.colour, BorderColor: "#ffffff", BorderWidth: 1}
		if res.Trips.Count > manyTrips { // outlines would hide the candles
			size, style = 4, opts.ItemStyle{Color: m.colour, Opacity: opts.Float(0.5)}
		}
		marks.AddSeries(m.name, nil, charts.WithScatterChartOpts(opts.ScatterChart{Symbol: m.symbol, SymbolSize: size}),
			charts.WithItemStyleOpts(style))
	}
	chart.Overlap(marks)
	chart.Overlap(plottedLines(plotted, plotted.on(plotted.chart, "")))
	if plotted.marked(plotted.chart) {
		texts := charts.NewScatter()
		texts.AddSeries("mark", nil, charts.WithScatterChartOpts(opts.ScatterChart{Symbol: "pin", SymbolSize: 14}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: colourQuiet}),
			charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Position: "top", Formatter: "{b}"}))
		chart.Overlap(texts)
	}
	chart.Validate()
	return chart
}

// plottedLines are lines without data, as in the other charts.
func plottedLines(plotted *plots, lines []*line) *charts.Line {
	chart := charts.NewLine()
	for _, l := range lines {
		chart.AddSeries(plotted.label(&l.key), nil,
			charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false), Symbol: "none"}),
			charts.WithLineStyleOpts(opts.LineStyle{Width: 1.2}))
	}
	return chart
}

// paneChart shows the lines of a pane.
func paneChart(res *Result, id string, lines []*line, plotted *plots) *charts.Line {
	chart := plottedLines(plotted, lines)
	chart.SetGlobalOptions(timeAxis(res, id, "", false)...)
	chart.Validate()
	return chart
}

// equityChart shows the equity beside that of buy and hold.
func equityChart(res *Result) *charts.Line {
	chart := charts.NewLine()
	chart.SetGlobalOptions(timeAxis(res, chartEquity, res.Currency, false)...)
	thin := charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false), Symbol: "none"})
	chart.AddSeries("equity", nil, thin, charts.WithLineStyleOpts(opts.LineStyle{Width: 1.6}))
	if res.Hold.Market != "" {
		chart.AddSeries("buy and hold", nil, thin, charts.WithLineStyleOpts(opts.LineStyle{Width: 1.2}))
	}
	chart.Validate()
	return chart
}

// drawdownChart shows how far equity is below its peak.
func drawdownChart(res *Result) *charts.Line {
	chart := charts.NewLine()
	chart.SetGlobalOptions(timeAxis(res, chartDrawdown, "%", false)...)
	chart.AddSeries("drawdown", nil,
		charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false), Symbol: "none"}),
		charts.WithLineStyleOpts(opts.LineStyle{Width: 1, Color: colourDown}),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: colourDown}),
		charts.WithAreaStyleOpts(opts.AreaStyle{Color: colourDown, Opacity: opts.Float(0.25)}))
	chart.Validate()
	return chart
}

// tripChart shows the profit of every round trip at the time of its exit.
func tripChart(res *Result) *charts.Scatter {
	chart := charts.NewScatter()
	chart.SetGlobalOptions(timeAxis(res, chartTrips, res.Currency, false)...)
	for _, s := range []struct{ name, colour string }{{"won", colourUp}, {"lost", colourDown}} {
		chart.AddSeries(s.name, nil, charts.WithScatterChartOpts(opts.ScatterChart{SymbolSize: 5}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: s.colour, Opacity: opts.Float(0.75)}))
	}
	chart.Validate()
	return chart
}

// monthChart shows the return of every month, coloured by its sign and size.
func monthChart(res *Result) *charts.Bar {
	chart := charts.NewBar()
	chart.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{ChartID: chartMonths}),
		charts.WithAnimation(false),
		charts.WithColorsOpts(opts.Colors{colourMain}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithGridOpts(opts.Grid{Left: "84", Right: "24", Top: "34", Bottom: "28"}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Name: "%"}),
	)
	names := make([]string, 0, len(res.Months))
	for _, m := range res.Months {
		names = append(names, fmt.Sprintf("%04d-%02d", m.Year, m.Month))
	}
	chart.SetXAxis(names).AddSeries("return", nil)
	chart.Validate()
	return chart
}
