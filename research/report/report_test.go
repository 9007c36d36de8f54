package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research/report"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// small is a page with a part of each kind.
func small() *report.Page {
	line := chart.Chart{Label: "a line", Panels: []chart.Panel{{Height: 120, Layers: []chart.Layer{
		chart.Bars{Role: chart.Main, Bars: chart.Histogram([]float64{1, 2, 2, 3}, 3)},
		report.Upright("the bar", chart.Down, 2.5, 2)}}}}
	return &report.Page{
		Kind: "sweep", Title: "smacross on BTC-EUR <1h>", Lead: "2021 to 2023", Synthetic: true,
		Verdict: report.Verdict{Warnings: []string{"Not distinguishable from luck."}, Texts: []string{"Of searches …"}},
		Cards:   []page.Card{{Title: "sets", Value: "455", Note: "all different"}},
		Sections: []report.Section{
			{"Sharpe ratios", []report.Part{
				report.Figure{line, "Bars are sets. It does not say which set has an edge."},
				report.Choice{"parameters", []report.Option{{"fast", []report.Part{report.Text("one")}},
					{"slow", []report.Part{report.Warning("two")}}}},
				report.Findings{report.FindingOf(stats.FigureSPA, "0.853")},
			}},
			{"The best", []report.Part{
				report.Table{page.Grid{Head: []string{"set", "Sharpe"},
					Rows: [][]string{{"fast=25", "0.87"}}}, "texts"},
				report.Fold{"The commands", []report.Part{report.Commands{"bot backtest --set a=1"}}},
				report.Note("Each runs one set again."),
			}},
		},
		Identity: []page.Pair{{Name: "data", Text: "2af1"}},
	}
}

func ExamplePage() {
	var out strings.Builder
	if err := small().Write(&out); err != nil {
		panic(err)
	}
	fmt.Println(strings.Contains(out.String(), "<b>Not distinguishable from luck.</b>"))
	// Output: true
}

func TestTextsOfAPageAreNoHTML(t *testing.T) {
	var out, again bytes.Buffer
	require.NoError(t, small().Write(&out))
	require.NoError(t, small().Write(&again))
	require.Equal(t, out.String(), again.String(), "the same page has the same bytes")
	text := out.String()
	require.NotContains(t, text, "<1h>")
	require.Contains(t, text, "smacross on BTC-EUR &lt;1h&gt;")
	require.Less(t, strings.Index(text, "Not distinguishable"), strings.Index(text, "455"), "the verdict comes first")
	e := stats.Explain(stats.FigureSPA)
	require.Contains(t, text, e.SaysNot)
}

func TestABadPictureNamesItsSection(t *testing.T) {
	p := small()
	p.Sections = append(p.Sections, report.Section{"Empty", []report.Part{report.Figure{}}})
	require.EqualError(t, p.Write(new(bytes.Buffer)), `section "Empty": part 1: chart: Panels is empty`)
}
