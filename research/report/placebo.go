package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/placebo"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// Placebo is the page of a placebo test: title says what was searched, madeUp that the candles are
// made up.
func Placebo(o *placebo.Result, title string, madeUp bool) *view.Doc {
	return &view.Doc{Kind: "placebo", Title: title, Synthetic: madeUp,
		Lead: fmt.Sprintf("%s to %s, %d daily returns; %d surrogates of %d candles", date(o.From), date(o.To), o.Days,
			o.Surrogates, o.Candles),
		Verdict: verdictOf(o.Answer, nil, []string{o.Verdict()}),
		Cards: []page.Card{
			{Title: "p", Value: o.P.Text(3), Note: fmt.Sprintf("rank %d of %d", 1+o.Better, 1+o.Surrogates)},
			{Title: "Sharpe in excess", Value: o.Theta.Text(2), Note: "of a hold at its own exposure"},
			{Title: "bar", Value: o.Bar.Text(2), Note: "5 in 100 searches with nothing to find show more"},
			{Title: "sets", Value: fmt.Sprint(o.Tried), Note: "tried on the data, and on each surrogate"},
		},
		Sections: []view.Section{placeboWinners(o), placeboTested(o)},
		Identity: []page.Pair{{Name: "version", Text: o.Identity.Code}, {Name: "config", Text: o.Identity.Config},
			{Name: "data", Text: o.Identity.Data}, {Name: "seed", Text: fmt.Sprint(o.Identity.Rules.Seed)},
			{Name: "file", Text: o.File}},
	}
}

// placeboWinners shows the winners of the surrogates and that of the data.
func placeboWinners(o *placebo.Result) view.Section {
	s := view.Section{Title: "Winners where there is nothing to find"}
	values := make([]float64, len(o.Thetas))
	for i, theta := range o.Thetas {
		values[i] = float64(theta)
	}
	s.Parts = append(s.Parts, placeboBars(o, chart.Histogram(values, 12)))
	bars := chart.Histogram(values, 24)
	if len(bars) > 0 {
		most := 0.0
		for _, b := range bars {
			most = math.Max(most, b.Value)
		}
		layers := []chart.Layer{chart.Bars{Name: "winners of surrogates", Role: chart.Quiet, Bars: bars}}
		if o.Bar.Defined() {
			layers = append(layers, view.Upright("the bar", chart.Down, float64(o.Bar), most))
		}
		layers = append(layers, view.Upright("the winner of the data", chart.Main, float64(o.Theta), most))
		s.Parts = append(s.Parts, view.Figure{Chart: chart.Chart{Label: "Histogram of the winners of surrogates",
			X: chart.Axis{Unit: "Sharpe"}, Panels: []chart.Panel{{Height: 220, Layers: layers}}},
			Caption: "How many surrogates have a winner with such an annual Sharpe ratio in excess of a " +
				"hold at its own " +
				"exposure. The data is one draw among them if there is nothing to find. It does not say that a " +
				"winner to the right will go on so."})
	}
	quantiles := view.Table{Grid: page.Grid{Head: []string{"share of surrogates", "Sharpe in excess below"}},
		Class: "slim"}
	for _, q := range o.Quantiles {
		quantiles.Rows = append(quantiles.Rows, []string{backtest.Figure(q.Share).Percent(0), q.Value.Text(2)})
	}
	s.Parts = append(s.Parts, quantiles)
	if o.Empty > 0 {
		s.Parts = append(s.Parts, view.Note(fmt.Sprintf("On %d surrogates the search found nothing.", o.Empty)))
	}
	return s
}

// placeboBars are the winners of the surrogates as bars of a terminal.
func placeboBars(o *placebo.Result, bars []chart.Bar) view.Part {
	const longest = 20
	table := view.Table{Grid: page.Grid{Head: []string{"Sharpe in excess", "surrogates", ""}}, Class: "texts"}
	most, theta := 1.0, float64(o.Theta)
	for _, b := range bars {
		most = max(most, b.Value)
	}
	for i, b := range bars {
		bar := strings.Repeat("█", int(b.Value/most*longest+0.5))
		if theta >= b.From && (theta < b.To || i == len(bars)-1 && theta <= b.To) {
			bar += " ← yours"
		}
		table.Rows = append(table.Rows, []string{fmt.Sprintf("%.2f to %.2f", b.From, b.To), fmt.Sprint(int(b.Value)),
			bar})
	}
	return view.Terminal{Part: table}
}

// placeboTested says what was tested, and what the test does not see.
func placeboTested(o *placebo.Result) view.Section {
	s := view.Section{Title: "What was tested",
		Parts: []view.Part{view.Findings{FindingOf(stats.FigurePlacebo, o.P.Text(3))}}}
	if o.Winner != nil {
		s.Parts = append(s.Parts, view.Text(fmt.Sprintf("The winner in the data: %s. Its Sharpe ratio against cash "+
			"is %s.", research.SettingsText(o.Winner), o.Sharpe.Text(2))))
	}
	rows := view.Table{Grid: page.Grid{Head: []string{"the search"}}, Class: "texts"}
	for _, line := range o.Identity.Procedure {
		rows.Rows = append(rows.Rows, []string{line})
	}
	title := "lost"
	if o.Identity.Rules.Signals {
		title = "limits"
	}
	s.Parts = append(s.Parts, rows, view.Text(o.Kept()+" The "+title+" of this placebo:"))
	lost := view.Table{Grid: page.Grid{Head: []string{title}}, Class: "texts"}
	for _, sentence := range o.Lost() {
		lost.Rows = append(lost.Rows, []string{sentence})
	}
	s.Parts = append(s.Parts, lost)
	return s
}
