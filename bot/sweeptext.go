package bot

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// sweepWriter builds the end of a sweep for a terminal.
type sweepWriter struct {
	strings.Builder
	o     *research.Outcome
	width int
}

// sweepText is the end of a sweep: the top, the map, the verdict, and the commands that run the
// best sets again.
func sweepText(o *research.Outcome, terminal backtest.SummaryOptions, again []string) string {
	w := &sweepWriter{o: o, width: 100}
	if terminal.Width > 0 {
		w.width = min(max(terminal.Width, 60), 100)
	}
	w.top()
	w.heatMap()
	w.counts()
	w.verdict()
	w.commands(again)
	return w.String()
}

func (w *sweepWriter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// text writes a paragraph over as many lines as it needs.
func (w *sweepWriter) text(first, format string, args ...any) {
	indent := strings.Repeat(" ", len(first))
	line := first
	for _, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > w.width && strings.TrimSpace(line) != "" {
			w.line("%s", line)
			line = indent
		}
		if strings.TrimSpace(line) != "" && line != first {
			line += " "
		}
		line += word
	}
	w.line("%s", line)
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
			row = append(row, figureText(c.name, r.Figure(c.name)))
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

func figureText(name string, f backtest.Figure) string {
	switch name {
	case "return", "drawdown", "exposure":
		return f.Percent(1)
	case "trips":
		return f.Text(0)
	case "fees":
		return f.Text(0)
	}
	return f.Text(2)
}

// table writes rows in columns, the ones up to left to the left.
func (w *sweepWriter) table(rows [][]string, left int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i <= left {
				line.WriteString(cell + space + "  ")
			} else {
				line.WriteString(space + cell + "  ")
			}
		}
		w.line("%s", strings.TrimRight(line.String(), " "))
	}
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
	text := fmt.Sprintf("%d sets tried, %d different series of returns", o.Tried, o.Distinct)
	for _, c := range [...]struct {
		n    int
		text string
	}{
		{o.LeftOut, "left out by the parameters' own rules"}, {o.Started - o.Tried, "dropped on a part of the range"},
		{o.Undefined, "without a value of the objective: they rank last"},
		{o.Unfit, "do not meet " + strings.Join(o.Require, " and ") + ": not ranked"},
		{o.Halted, "in which a strategy was halted"},
	} {
		if c.n > 0 {
			text += fmt.Sprintf("; %d %s", c.n, c.text)
		}
	}
	w.text("", "%s.", text)
	if len(o.Require) > 0 {
		w.text("", "%s is a filter on the whole sample: it uses what could not be known before.",
			strings.Join(o.Require, " and "))
	}
}

// verdict writes what the best is worth.
func (w *sweepWriter) verdict() {
	v := &w.o.Verdict
	w.line("")
	w.line("Verdict")
	if len(w.o.Top) == 0 {
		w.text("", "There is no winner to judge.")
		return
	}
	if v.Alone {
		w.text("", "The winner stands alone: its neighbours in the grid do not share its lead.")
	}
	end := "not distinguishable from luck"
	if v.Above {
		end = "above what luck shows in 95 of 100 such searches; that is no proof of an edge"
	}
	w.text("", "Of searches like this on worthless data 5 in 100 show a Sharpe above %.2f; the expected best is %.2f; "+
		"yours "+
		"shows %s: %s.", v.Luck.Bar, v.Luck.Expected, v.Excess.Text(2), end)
	w.text("", "Yours is the Sharpe of the best set in excess of a hold at its own exposure; against cash it is %s.",
		v.Sharpe.Text(2))
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

// commands writes how to run the best sets again in full.
func (w *sweepWriter) commands(again []string) {
	w.line("")
	w.line("All sets are in %s.", w.o.File)
	if len(w.o.Top) == 0 {
		return
	}
	w.line("The best again in full:")
	for _, s := range w.o.Top[0].Settings {
		again = append(again, "--set", s.Key+"="+s.Value)
	}
	w.line("  %s", shellWords(append(again, "--from", sweepDate(market.Time(w.o.From)))))
}
