package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/walkforward"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// Walk is the page of a walk-forward.
func Walk(o *walkforward.Result, title string, synthetic bool) *view.Doc {
	lead := fmt.Sprintf("%s · %s to %s · method %s · best by %s", o.Cut(), date(o.Windows[0].TestFrom),
		date(o.Windows[len(o.Windows)-1].TestEnd), o.Method, o.Objective)
	p := &view.Doc{Kind: "walk-forward", Title: title, Lead: lead, Synthetic: synthetic,
		Verdict: verdictOf(o.Answer(), o.Warnings(), o.Sentences()), Cards: walkCards(o),
		Sections: []view.Section{
			{Title: "The test days, stitched", Parts: walkCurves(o)},
			{Title: "What the figures say", Parts: []view.Part{walkFindings(o)}},
			{Title: "Window by window", Parts: walkWindows(o)},
		}}
	if parts := walkParameters(o); len(parts) > 0 {
		p.Sections = append(p.Sections, view.Section{Title: "Parameters over time", Parts: parts})
	}
	for _, file := range o.Files {
		p.Identity = append(p.Identity, page.Pair{Name: "search", Text: file})
	}
	return p
}

func walkCards(o *walkforward.Result) []page.Card {
	c := &o.Stitched
	return []page.Card{
		{Title: "return", Value: c.Return.Percent(1), Note: "of the test days; a hold " + c.Hold.Percent(1)},
		{Title: "Sharpe", Value: c.Sharpe.Text(2), Note: "± " + c.Error.Text(2) + ", its standard error"},
		{Title: "Sharpe in excess", Value: c.Excess.Text(2), Note: "of a hold at its own exposure"},
		{Title: "drawdown", Value: c.Worst.Percent(1), Note: "of the test days"},
		{Title: "windows with profit", Value: o.Profitable.Percent(0), Note: "of " + number(len(o.Windows))},
		{Title: "parameters changed", Value: number(o.Changed), Note: "times"},
	}
}

func walkFindings(o *walkforward.Result) (list view.Findings) {
	for _, f := range o.Findings() {
		list = append(list, FindingOf(f.Figure, f.Text))
	}
	return list
}

// seconds is a time for a chart.
func seconds(m backtest.Moment) float64 { return float64(market.Time(m)) / 1e9 }

// grown is the equity after each day, from 1 on.
func grown(first backtest.Moment, returns []float64) []chart.Point {
	const day = 86400
	at, equity := seconds(first)-day, 1.0
	points := []chart.Point{{X: at, Y: equity}}
	for _, r := range returns {
		at, equity = at+day, equity*(1+r)
		points = append(points, chart.Point{X: at, Y: equity})
	}
	return points
}

// walkCurves are the stitched curves with both kinds of border, the same settings throughout, and a
// hold.
func walkCurves(o *walkforward.Result) []view.Part {
	rows := o.CurveTable()
	table := view.Table{Grid: page.Grid{Head: rows[0], Rows: rows[1:]}, Class: ""}
	if len(o.Stitched.Returns) == 0 {
		return []view.Part{table}
	}
	names := map[string]string{"carry": "anew, carried", "flat": "anew, closed"} // at borders
	layers := []chart.Layer{chart.Line{Name: "hold", Role: chart.Quiet,
		Points: grown(o.Stitched.First, o.Stitched.Held)}}
	if len(o.Other.Returns) > 0 {
		layers = append(layers, chart.Line{Name: names[o.Other.Border], Role: chart.Main, Dashed: true, Width: 1,
			Points: grown(o.Other.First, o.Other.Returns)})
	}
	if len(o.Once.Returns) > 0 && len(o.Windows) > 1 {
		layers = append(layers, chart.Line{Name: "same settings throughout", Role: chart.Second,
			Points: grown(o.Once.First, o.Once.Returns)})
	}
	layers = append(layers, chart.Line{Name: "chosen anew", Role: chart.Main, Width: 2,
		Points: grown(o.Stitched.First, o.Stitched.Returns)})
	return []view.Part{view.Figure{Chart: chart.Chart{Label: "equity over the test days", Times: true,
		Panels: []chart.Panel{{Height: 300, Y: chart.Axis{Unit: "equity, first day 1"}, Layers: layers}}},
		Caption: "Blue: each day was traded with settings that were chosen on days before it; at the borders " +
			"between windows positions are carried, or closed (dashed). Violet: the settings of the first window, " +
			"never chosen anew. Grey: a hold. Many walk-forwards are tries, too: lengths, objectives and strategies " +
			"count."}, table}
}

// walkWindows is the table of the windows with the Sharpe ratios of both sides.
func walkWindows(o *walkforward.Result) []view.Part {
	rows := o.WindowTable()
	table := view.Table{Grid: page.Grid{Head: rows[0], Rows: rows[1:]}, Class: ""}
	var in, out []chart.Point
	band := chart.Fan{Name: "test ± standard error", Role: chart.Main, Quantiles: make([][]float64, 3)}
	for i := range o.Windows {
		w := &o.Windows[i]
		x := seconds(w.TestFrom)
		if w.In.Sharpe.Defined() {
			in = append(in, chart.Point{X: x, Y: float64(w.In.Sharpe)})
		}
		if w.Out.Sharpe.Defined() {
			out, band.X = append(out, chart.Point{X: x, Y: float64(w.Out.Sharpe)}), append(band.X, x)
			for row := range band.Quantiles {
				band.Quantiles[row] = append(band.Quantiles[row],
					float64(w.Out.Sharpe)+float64(row-1)*float64(w.Out.Error))
			}
		}
	}
	if len(out) < 2 {
		return []view.Part{table}
	}
	layers := []chart.Layer{band,
		chart.Marks{Name: "winner in training", Role: chart.Second, Shape: chart.Diamond, Size: 9, Points: in},
		chart.Marks{Name: "test", Role: chart.Main, Size: 9, Points: out},
	}
	return []view.Part{view.Figure{Chart: chart.Chart{Label: "Sharpe ratios of the windows", Times: true,
		Panels: []chart.Panel{{Height: 260, Y: chart.Axis{Unit: "annual Sharpe"}, Layers: layers}}},
		Caption: "The Sharpe of the winner in training is high because it was chosen for that. The test's " +
			"has the standard " +
			"error " +
			"of so few days: the windows' own Sharpe ratios say little, their stitched days say more."}, table}
}

// walkParameters draws each parameter over time.
func walkParameters(o *walkforward.Result) []view.Part {
	var panels []chart.Panel
	at := slices.IndexFunc(o.Windows, func(w walkforward.Window) bool { return len(w.Settings) > 0 })
	if at < 0 || len(o.Windows) < 2 {
		return nil
	}
	for i, s := range o.Windows[at].Settings {
		var points []chart.Point
		numeric := true
		for k := range o.Windows {
			w := &o.Windows[k]
			if len(w.Settings) == 0 {
				continue
			}
			value, err := strconv.ParseFloat(w.Settings[i].Value, 64)
			if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
				numeric = false
				break
			}
			points = append(points, chart.Point{X: seconds(w.TestFrom), Y: value},
				chart.Point{X: seconds(w.TestEnd), Y: value})
		}
		if numeric {
			name := s.Key[strings.LastIndexByte(s.Key, '.')+1:]
			panels = append(panels, chart.Panel{Height: 110, Y: chart.Axis{Unit: name},
				Layers: []chart.Layer{chart.Line{Role: chart.Main, Width: 2, Points: points}}})
		}
	}
	if len(panels) == 0 {
		return nil
	}
	return []view.Part{view.Figure{Chart: chart.Chart{Label: "parameters over time", Times: true, Panels: panels},
		Caption: "Parameters that jump from window to window were chosen by noise. Parameters that stay are " +
			"no proof of an " +
			"edge: " +
			"trainings that overlap choose alike."}}
}
