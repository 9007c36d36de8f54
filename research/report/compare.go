package report

import (
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/compare"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// Compare holds backtests against each other.
func Compare(o *compare.Comparison) *view.Doc {
	var names, titles []string
	p := &view.Doc{Kind: "compare"}
	for _, r := range o.Runs {
		names = append(names, r.Name)
		titles = append(titles, r.Name+": "+r.Title)
		p.Synthetic = p.Synthetic || r.Result.Synthetic
		p.Identity = append(p.Identity, page.Pair{Name: r.Name, Text: r.Dir + " · run " + r.Info.ID + " · data " +
			r.Info.DataHash})
	}
	p.Title, p.Lead = strings.Join(names, " and "), strings.Join(titles, " · ")
	p.Verdict.Warnings = o.Warnings
	if note := o.DataNote(); note != "" {
		p.Verdict.Texts = append(p.Verdict.Texts, note)
	}
	for i := range o.Pairs {
		p.Verdict.Texts = append(p.Verdict.Texts, o.Pairs[i].Sentence())
	}
	settings := []view.Part{}
	if rows := o.Differing(); len(rows) > 0 {
		settings = append(settings,
			view.Table{Grid: page.Grid{Head: append([]string{"setting"}, names...), Rows: rows}, Class: "texts"})
	}
	if note := o.SettingsNote(); note != "" {
		settings = append(settings, view.Note(note))
	}
	p.Sections = []view.Section{
		{Title: "Equity", Parts: []view.Part{Curves(o.Runs)}},
		{Title: "Settings that differ", Parts: settings},
		{Title: "Figures", Parts: []view.Part{
			view.Table{Grid: page.Grid{Head: append([]string{"figure"}, names...), Rows: o.Figures()}, Class: ""},
			view.Note("Fees and final equity are in " + o.Currency +
				". A figure that is better in one run does not say that the " +
				"difference will last: the difference by day has a standard error.")}},
	}
	return p
}

// Curves is the picture of all runs: equity as a part of its start, and drawdowns.
func Curves(runs []*compare.Run) view.Figure {
	var growth, falls []chart.Layer
	for i, r := range runs {
		var up, down []chart.Point
		peak := 0.0
		for _, s := range r.Equity {
			peak = max(peak, s.Equity)
			x := Seconds(s.At)
			up = append(up, chart.Point{X: x, Y: 100 * s.Equity / r.Equity[0].Equity})
			down = append(down, chart.Point{X: x, Y: 100 * (s.Equity/peak - 1)})
		}
		role, dashed := chart.Series(i)
		growth = append(growth, chart.Line{Name: r.Name, Role: role, Dashed: dashed, Points: up})
		falls = append(falls, chart.Line{Role: role, Dashed: dashed, Width: 1, Points: down})
	}
	return view.Figure{Chart: chart.Chart{Label: "equity of all runs", Times: true, Panels: []chart.Panel{
		{Height: 320, Y: chart.Axis{Unit: "% of the start"}, Layers: growth},
		{Height: 140, Y: chart.Axis{Unit: "% below the peak"}, Layers: falls}}},
		Caption: "Each curve begins with 100 at the start of its own run."}
}

// Seconds is a time as the horizontal axis of a chart with Times has it.
func Seconds(t market.Time) float64 { return float64(t) / 1e9 }
