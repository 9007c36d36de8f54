package view_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// small is a page with a part of each kind.
func small() *view.Doc {
	line := chart.Chart{Label: "a line", Panels: []chart.Panel{{Height: 120, Layers: []chart.Layer{
		chart.Bars{Role: chart.Main, Bars: chart.Histogram([]float64{1, 2, 2, 3}, 3)},
		view.Upright("the bar", chart.Down, 2.5, 2)}}}}
	return &view.Doc{
		Kind: "sweep", Title: "smacross on BTC-EUR <1h>", Lead: "2021 to 2023", Synthetic: true,
		Verdict: view.Verdict{Warnings: []string{"Not distinguishable from luck."}, Texts: []string{"Of searches …"}},
		Cards:   []page.Card{{Title: "sets", Value: "455", Note: "all different"}},
		Sections: []view.Section{
			{"Sharpe ratios", []view.Part{
				view.Figure{line, "Bars are sets. It does not say which set has an edge."},
				view.Choice{"parameters", []view.Option{{"fast", []view.Part{view.Text("one")}},
					{"slow", []view.Part{view.Warning("two")}}}},
				view.Findings{{"", "p of the search", "0.853", "A share of searches.", "No proof."},
					{"Is it luck?", "p", "0.999", "Small: hardly.", "No proof."}},
				view.Small{{line, ""}},
				view.Sorted{page.Grid{Head: []string{"#", "fast"}, Rows: [][]string{{"1", "25"}}}, 20},
			}},
			{"The best", []view.Part{
				view.Table{page.Grid{Head: []string{"set", "Sharpe"},
					Rows: [][]string{{"fast=25", "0.87"}}}, "texts"},
				view.Fold{"The commands", []view.Part{view.Commands{"bot backtest --set a=1"}}},
				view.Note("Each runs one set again."),
			}},
		},
		Identity: []page.Pair{{Name: "data", Text: "2af1"}},
	}
}

func ExampleDoc() {
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
	require.Contains(t, text, "<i>No proof.</i>")
	require.Contains(t, text, "<summary>Is it luck?</summary>\n<p><b>p: 0.999.</b>")
	require.Contains(t, text, `<div class="sorted" data-first="20"><table`)
}

func TestABadPictureNamesItsSection(t *testing.T) {
	p := small()
	p.Sections = append(p.Sections, view.Section{"Empty", []view.Part{view.Figure{}}})
	require.EqualError(t, p.Write(new(bytes.Buffer)), `section "Empty": part 1: chart: Panels is empty`)
}
