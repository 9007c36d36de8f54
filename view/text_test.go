package view_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

// A terminal shows the sections, then the verdict. Cards, pictures and folds are for a page.
func TestATerminalShowsTheVerdictLast(t *testing.T) {
	d := small()
	d.Sections = append(d.Sections, view.Section{"Pictures", []view.Part{view.Page{view.Text("hidden")}}},
		view.Section{"A list", []view.Part{view.Table{page.Grid{Head: []string{"lost"},
			Rows: [][]string{{strings.Repeat("long ", 14)}, {"short"}}}, ""},
			view.Terminal{view.Commands{"bot sweep"}}}})
	require.Equal(t, `smacross on BTC-EUR <1h>
2021 to 2023

Sharpe ratios
fast
one

slow
warning: two

  p of the search: 0.853. A share of searches. No proof.
  p: 0.999. Small: hardly. No proof.

The best
set      Sharpe
fast=25  0.87

Each runs one set again.

A list
  long long long long long long long long long long long
  long long long
  short

  bot sweep

Verdict
warning: Not distinguishable from luck.
Of searches …
`, d.Text(40), "a terminal narrower than 60 counts as 60")
	var page strings.Builder
	require.NoError(t, d.Write(&page))
	require.Contains(t, page.String(), "<p>hidden</p>")
	require.NotContains(t, page.String(), "bot sweep</pre>")
}
