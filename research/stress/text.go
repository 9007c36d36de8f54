package stress

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/backtest"
)

// AgainSays explains the table of the runs.
const AgainSays = "Of several runs the middle one stands here, by its return. The runs say how the same strategy " +
	"would have gone in the same past; they do not say how it will go."

// RecordSays explains the figures of a record.
func RecordSays(r *Resample) string {
	return fmt.Sprintf("The %d daily returns were drawn again %d times, in blocks of %.1f days on average. This "+
		"speaks of the record and not of the future: what the record has not seen cannot be drawn.", r.Days,
		r.Resamples, r.Block)
}

// LossSays says how often a record drawn again loses a part of its equity.
func LossSays(r *Resample) string {
	text := fmt.Sprintf("A loss of %s within %d days: in %s of the records drawn again, the close of some day stood "+
		"so far below the beginning. It is no chance of the future.", backtest.Figure(r.Loss.Loss).Percent(0),
		r.Loss.Within, r.Loss.Share.Percent(1))
	if r.Loss.Within > r.Days {
		text += fmt.Sprintf(" The record is shorter than that: its %d days come more than once.", r.Days)
	}
	if r.TripsMissing != "" {
		text += " Round trips were not drawn again: " + r.TripsMissing + "."
	}
	return text
}

// RecordTables are the quantiles of a record: of its end, and of its drawdown. Titles come first.
func RecordTables(o *Result) (end, fall [][]string) {
	r := o.Record
	title := func(q []Quantile) (cells []string) {
		for _, one := range q {
			cells = append(cells, fmt.Sprintf("%.0f %%", one.Part*100))
		}
		return cells
	}
	returns := func(q []Quantile) (cells []string) {
		for _, one := range q {
			cells = append(cells, (one.Value - 1).Percent(1))
		}
		return cells
	}
	parts := func(q []Quantile) (cells []string) {
		for _, one := range q {
			cells = append(cells, one.Value.Percent(1))
		}
		return cells
	}
	row := func(name string, cells []string, own string) []string {
		return append(append([]string{name}, cells...), own)
	}
	end = [][]string{row("so many in 100 end lower", title(r.Final), "the record"),
		row("return, days drawn again", returns(r.Final), (r.Own.Final - 1).Percent(1))}
	if r.Trips != nil {
		end = append(end, row("return, trips drawn again", returns(r.Trips.Final), ""))
	}
	fall = [][]string{row("so many in 100 do no worse", title(r.Drawdown), ""),
		row("drawdown, days drawn again", parts(r.Drawdown), r.Own.Drawdown.Percent(1))}
	if r.Trips != nil {
		fall = append(fall, row("drawdown, trips drawn again", parts(r.Trips.Drawdown), ""))
		var cells []string
		for _, q := range r.Trips.Losing {
			cells = append(cells, q.Value.Text(0))
		}
		fall = append(fall, row("trips lost in a row", cells, ""))
	}
	return end, fall
}

// Note says what the middle run of a level does not; empty: there is nothing to say.
func (l *Level) Note() (text string) {
	if len(l.Runs) > 1 {
		text = fmt.Sprintf("worst of %d: %s", len(l.Runs), l.Worst.Return.Percent(1))
	}
	for _, more := range [...]string{l.brokenText(), l.haltedText()} {
		if more != "" && text != "" {
			text += ", "
		}
		text += more
	}
	return text
}

func (l *Level) brokenText() string {
	switch {
	case l.Broken > 0 && len(l.Runs) > 1:
		return fmt.Sprintf("%d broken", l.Broken)
	case l.Why != "":
		return l.Why
	}
	return ""
}

func (l *Level) haltedText() string {
	if l.Halted == 0 {
		return ""
	}
	return fmt.Sprintf("a strategy was halted in %d", l.Halted)
}

// BreakTable lists the changes that break the run, the smallest first, under a row of titles.
func BreakTable(o *Result) [][]string {
	rows := [][]string{{"what", "breaks at", "why", "return", "Sharpe", "drawdown", "holds at"}}
	for i := range o.Breaks {
		b := &o.Breaks[i]
		at, why := b.At, b.Why
		if at == "" {
			at, why = "–", ""
		} else if b.Share != "" {
			why += " (" + b.Share + ")"
		}
		holds := b.Holds
		if holds == "" {
			holds = "–"
		}
		rows = append(rows, []string{b.Title, at, why, b.Figures.Return.Percent(1), b.Figures.Sharpe.Text(2),
			b.Figures.Drawdown.Percent(1), holds})
	}
	return rows
}

// BreaksSays is the table of what breaks the run in words.
func BreaksSays(o *Result) string {
	limit := ""
	if o.Drawdown > 0 {
		limit = fmt.Sprintf(", or a drawdown over %s", backtest.Figure(o.Drawdown).Percent(0))
	}
	rule := fmt.Sprintf(" Broken means: a loss, a Sharpe below 0%s; of several runs in one of four. Small changes "+
		"come first.", limit)
	switch {
	case o.Broken != "":
		return fmt.Sprintf("The run is broken as it is: %s.%s", o.Broken, rule)
	case o.Breaks[0].At == "":
		return "Nothing that was tried breaks it. That does not say that it earns in the future." + rule
	}
	b := &o.Breaks[0]
	return fmt.Sprintf("It breaks first at this change: %s, %s: %s.%s", b.Title, b.At, b.Why, rule)
}
