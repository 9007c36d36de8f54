package report

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/stress"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// Stress is the page of a stress: what breaks the run first, then its record drawn again, then the
// runs.
func Stress(o *stress.Result) *view.Doc {
	r := o.Record
	p := &view.Doc{Kind: "stress", Title: o.Title, Synthetic: o.Synthetic,
		Lead: fmt.Sprintf("%s to %s, %d daily returns", o.From.Date(), o.To.Date(), r.Days),
		Cards: []page.Card{
			{Title: "return", Value: o.Plain.Return.Percent(1), Note: "of the run as it is"},
			{Title: "Sharpe", Value: o.Plain.Sharpe.Text(2), Note: "of the run as it is"},
			{Title: "drawdown", Value: o.Plain.Drawdown.Percent(1),
				Note: fmt.Sprintf("%s in 1 of 20 records drawn again", r.Drawdown[3].Value.Percent(1))},
			{Title: fmt.Sprintf("loss of %s in %d days", backtest.Figure(r.Loss.Loss).Percent(0), r.Loss.Within),
				Value: r.Loss.Share.Percent(1), Note: "of the records drawn again"},
		}}
	if o.Broken != "" || o.Breaks[0].At != "" {
		p.Verdict.Warnings = []string{stress.BreaksSays(o)}
	} else {
		p.Verdict.Texts = []string{stress.BreaksSays(o)}
	}
	if o.Broken == "" {
		p.Sections = []view.Section{{Title: "What breaks it first",
			Parts: []view.Part{view.Table{Grid: grid(stress.BreakTable(o))}}}}
	}
	p.Sections = append(p.Sections, stressRecord(o), stressRuns(o))
	p.Identity = []page.Pair{{Name: "code", Text: o.Run.CodeVersion}, {Name: "config", Text: o.Run.ConfigHash},
		{Name: "candles", Text: o.Run.DataHash}, {Name: "seed", Text: fmt.Sprint(o.Seed)}}
	return p
}

// grid is a table whose first row is the titles.
func grid(rows [][]string) page.Grid { return page.Grid{Head: rows[0], Rows: rows[1:]} }

// stressRecord is the record drawn again.
func stressRecord(o *stress.Result) view.Section {
	r := o.Record
	begin := market.FloorTo(market.Time(o.From), dayLength)
	fan := chart.Fan{Name: "drawn again", Role: chart.Quiet, X: []float64{Seconds(begin)}}
	own := chart.Line{Name: "the record", Width: 2, Points: []chart.Point{{X: Seconds(begin), Y: 1}}}
	for i, day := range r.Fan.Days {
		x := Seconds(begin + market.Time(day)*dayLength)
		fan.X = append(fan.X, x)
		own.Points = append(own.Points, chart.Point{X: x, Y: r.Fan.Own[i]})
	}
	for _, row := range r.Fan.Paths {
		fan.Quantiles = append(fan.Quantiles, append([]float64{1}, row...))
	}
	layers := []chart.Layer{fan, own}
	picture := chart.Chart{Label: "equity by days, as a part of that at the beginning", Times: true,
		Panels: []chart.Panel{{Height: 300, Y: ratio("equity", layers), Layers: layers}}}
	parts := []view.Part{view.Text(stress.RecordSays(r)),
		view.Figure{Chart: picture, Caption: "Equity on a log scale, from 1. Blue is the record. Of the records " +
			"drawn again, 90 in 100 end within the wide grey band, 50 within the narrow one. The bands do not say " +
			"where the equity will go."}}
	end, fall := stress.RecordTables(o)
	parts = append(parts, view.Table{Grid: grid(end)}, view.Table{Grid: grid(fall)})
	return view.Section{Title: "From the record", Parts: append(parts, view.Note(stress.LossSays(r)))}
}

// stressRuns are the runs, by kind of change.
func stressRuns(o *stress.Result) view.Section {
	g := page.Grid{Head: []string{"change", "level", "return", "Sharpe", "drawdown", "trips", "note"}}
	row := func(change, level string, f *stress.Figures, note string) {
		g.Rows = append(g.Rows, []string{change, level, f.Return.Percent(1), f.Sharpe.Text(2), f.Drawdown.Percent(1),
			fmt.Sprint(f.Trips), note})
	}
	row("as it is", "", &o.Plain, "")
	changes := view.Table{Grid: page.Grid{Head: []string{"change"}}, Class: "texts"}
	for i := range o.Again {
		c := &o.Again[i]
		says := c.Title + ": " + c.Says + "."
		if c.Missing != "" {
			says = c.Title + ": left out, " + c.Missing + "."
		}
		changes.Rows = append(changes.Rows, []string{says})
		for k := range c.Levels {
			row(c.Title, c.Levels[k].Label, &c.Levels[k].Median, c.Levels[k].Note())
		}
	}
	return view.Section{Title: "The run again", Parts: []view.Part{view.Note(stress.AgainSays),
		view.Terminal{Part: view.Table{Grid: g}}, view.Terminal{Part: changes}, view.Fold{
			Title: fmt.Sprintf("All %d runs and what each change is", len(g.Rows)-1),
			Parts: []view.Part{view.Table{Grid: g}, changes}}}}
}
