package bot

import (
	"path/filepath"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/research/walkforward"
)

// walkText is the end of a walk-forward: the stitched days, the windows, and what the figures say.
// dir is the folder of the stitched run; empty: there is none.
func walkText(o *walkforward.Result, terminal backtest.SummaryOptions, dir string) string {
	w := newTextWriter(terminal)
	w.line("The test days, stitched")
	w.table(o.CurveTable(), 0)
	w.line("")
	for _, list := range [...][]string{o.Warnings(), o.Sentences()} {
		for _, sentence := range list {
			w.text("", "%s", sentence)
		}
	}
	w.line("")
	w.line("%s", o.Cut())
	w.table(o.WindowTable(), 1)
	w.line("")
	for _, f := range o.Findings() {
		e := stats.Explain(f.Figure)
		w.text("  ", "%s: %s. %s %s", e.Name, f.Text, e.Says, e.SaysNot)
	}
	if dir != "" {
		w.line("")
		w.line("The stitched run is in %s; open %s and %s", dir, filepath.Join(dir, "walkforward.html"),
			filepath.Join(dir, "report.html"))
	}
	return w.String()
}
