package bot

import (
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stress"
)

// stressWriter builds the end of a stress for a terminal.
type stressWriter struct {
	textWriter
	o *stress.Result
}

// stressText is the end of a stress: the record drawn again, the runs, and what breaks it first.
func stressText(o *stress.Result, terminal backtest.SummaryOptions, file string) string {
	w := &stressWriter{newTextWriter(terminal), o}
	w.record()
	w.again()
	w.breaks()
	if file != "" {
		w.line("")
		w.line("The page: %s", file)
	}
	return w.String()
}

// record writes what the run's own record says.
func (w *stressWriter) record() {
	r := w.o.Record
	w.line("From the record")
	w.text("", "%s", stress.RecordSays(r))
	w.line("")
	w.table(stress.RecordTable(w.o), 0)
	w.line("")
	w.text("", "%s", stress.LossSays(r))
}

// again writes the runs.
func (w *stressWriter) again() {
	w.line("")
	w.line("The run again")
	rows := [][]string{{"", "", "return", "Sharpe", "drawdown", "trips", ""}}
	rows = append(rows, append([]string{"as it is", ""}, w.figures(&w.o.Plain, "")...))
	var missing []string
	for i := range w.o.Again {
		c := &w.o.Again[i]
		if c.Missing != "" {
			missing = append(missing, fmt.Sprintf("%s: left out, %s.", c.Title, c.Missing))
		}
		title := c.Title
		for k := range c.Levels {
			l := &c.Levels[k]
			rows = append(rows, append([]string{title, l.Label}, w.figures(&l.Median, l.Note())...))
			title = ""
		}
	}
	w.table(rows, 1)
	w.text("", "%s", stress.AgainSays)
	for _, line := range missing {
		w.text("", "%s", strings.ToUpper(line[:1])+line[1:])
	}
}

func (w *stressWriter) figures(f *stress.Figures, note string) []string {
	return []string{f.Return.Percent(1), f.Sharpe.Text(2), f.Drawdown.Percent(1), fmt.Sprint(f.Trips), note}
}

// breaks writes what breaks it first.
func (w *stressWriter) breaks() {
	w.line("")
	w.line("What breaks it first")
	if len(w.o.Breaks) > 0 {
		w.table(stress.BreakTable(w.o), 1)
	}
	w.text("", "%s", stress.BreaksSays(w.o))
}
