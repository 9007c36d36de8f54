package bot

import (
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// sweepWriter builds the end of a sweep for a terminal.
type sweepWriter struct {
	textWriter
	o *research.Outcome
}

// sweepText is the end of a sweep: the top, the map, the verdict, the command that runs the best
// set again, and the page; without a path there is none.
func sweepText(o *research.Outcome, terminal backtest.SummaryOptions, again []string, path string) string {
	w := &sweepWriter{newTextWriter(terminal), o}
	w.top()
	w.heatMap()
	w.counts()
	w.verdict()
	w.end(again, path)
	return w.String()
}

// topColumns are the figures of the table.
var topColumns = [...]struct{ title, name string }{
	{"Sharpe", "sharpe"}, {"return", "return"}, {"drawdown", "drawdown"}, {"trips", "trips"}, {"fees", "fees"},
	{"in market", "exposure"},
}

// top writes the best sets.
func (w *sweepWriter) top() {
	if len(w.o.Top) == 0 {
		w.text("", "No set meets %s.", strings.Join(w.o.Require, " and "))
		return
	}
	w.line("The best by %s", w.o.Objective)
	rows := [][]string{{"", "set"}}
	own := w.o.Objective != "sharpe" && w.o.Objective != "return"
	if own {
		rows[0] = append(rows[0], w.shortObjective())
	}
	for _, c := range topColumns {
		rows[0] = append(rows[0], c.title)
	}
	for i := range w.o.Top {
		r := &w.o.Top[i]
		row := []string{fmt.Sprint(i + 1), research.SettingsText(r.Settings)}
		if own {
			row = append(row, r.Value.Text(3))
		}
		for _, c := range topColumns {
			row = append(row, research.FigureText(c.name, r.Figure(c.name)))
		}
		rows = append(rows, row)
	}
	w.table(rows, 1)
}

// shortObjective is the objective as a title.
func (w *sweepWriter) shortObjective() string {
	if len(w.o.Objective) > 14 {
		return "objective"
	}
	return w.o.Objective
}

// heatMap writes the coarse map.
func (w *sweepWriter) heatMap() {
	m := w.o.Map
	title := fmt.Sprintf("Mean %s by %s (across)", w.shortObjective(), m.X)
	if m.Y != "" {
		title += fmt.Sprintf(" and %s (down)", m.Y)
	}
	w.line("")
	w.text("", "%s; a cell is named by its first value", title)
	rows := [][]string{append([]string{""}, m.Columns...)}
	for i, cells := range m.Cells {
		row := []string{m.Rows[i]}
		for _, c := range cells {
			row = append(row, mapText(c))
		}
		rows = append(rows, row)
	}
	w.table(rows, 0)
}

// mapText is a cell in few characters.
func mapText(f backtest.Figure) string {
	switch {
	case !f.Defined():
		return "·"
	case f >= 1000 || f <= -1000:
		return fmt.Sprintf("%.0fk", float64(f)/1000)
	case f >= 100 || f <= -100:
		return f.Text(0)
	}
	return strings.Replace(f.Text(1), "-0.0", "0.0", 1)
}

// counts says what was tried.
func (w *sweepWriter) counts() {
	o := w.o
	w.line("")
	w.text("", "%s", o.Counts())
	if len(o.Require) > 0 {
		w.text("", "%s is a filter on the whole sample: it uses what could not be known before.",
			strings.Join(o.Require, " and "))
	}
}

// verdict writes what the best is worth.
func (w *sweepWriter) verdict() {
	v := w.o.Judged()
	w.line("")
	w.line("Verdict")
	if len(w.o.Top) == 0 {
		w.text("", "There is no winner to judge.")
		return
	}
	if v.Alone {
		w.text("", research.StandsAlone)
	}
	if v.Few {
		w.text("", research.FewTrips)
	}
	for _, sentence := range v.Sentences() {
		w.text("", "%s", sentence)
	}
	for _, f := range [...]struct {
		figure stats.Figure
		one    research.Finding
	}{{stats.FigureSPA, v.SPA}, {stats.FigureDSR, v.DSR}, {stats.FigureP, v.PSR}, {stats.FigurePBO, v.PBO},
		{stats.FigurePlateau, v.Plateau}} {
		e := stats.Explain(f.figure)
		if f.one.Missing != "" {
			w.text("  ", "%s: missing: %s.", e.Name, f.one.Missing)
			continue
		}
		w.text("  ", "%s: %s. %s %s", e.Name, f.one.Value.Text(3), e.Says, e.SaysNot)
	}
}

// end writes where all sets are, and how to run the best one again in full.
func (w *sweepWriter) end(again []string, path string) {
	w.line("")
	w.line("All sets are in %s.", w.o.File)
	if len(again) > 0 {
		w.line("The best again in full:")
		w.line("  %s", again[0])
	}
	if path != "" {
		w.line("open %s", path)
	}
}
