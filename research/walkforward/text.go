package walkforward

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Warnings are the sentences that a reader must see first, if any.
func (o *Result) Warnings() (list []string) {
	list = slices.Clone(o.DataWarnings)
	if len(o.Windows) == 1 {
		list = append(list, "There is one window only: this is one split of the data, with one choice.")
	}
	silent, kept := 0, 0
	for i := range o.Windows {
		if w := &o.Windows[i]; len(w.Settings) == 0 {
			silent++
		} else if w.Kept {
			kept++
		}
	}
	need := strings.Join(o.Require, " and ")
	if silent > 0 {
		list = append(list, fmt.Sprintf(
			"In the first %d windows no set had a value, or met %s: the test begins behind them.",
			silent, orNothing(need)))
	}
	if kept > 0 {
		list = append(list, fmt.Sprintf(
			"In %d windows no set had a value, or met %s: they went on with the parameters "+
				"before.", kept, orNothing(need)))
	}
	if o.Stitched.Missing == "" && o.Stitched.Trips < backtest.FewestTrips {
		list = append(list, fmt.Sprintf("The test days have %d round trips: fewer than ten are too few to tell the "+
			"winners from luck.", o.Stitched.Trips))
	}
	if o.Other.Missing != "" {
		list = append(list, fmt.Sprintf("The run with %s borders failed: %s.", o.Other.Border, o.Other.Missing))
	}
	return list
}

func orNothing(need string) string {
	if need == "" {
		return "what was required"
	}
	return need
}

// Sentences say what the stitched days are worth.
func (o *Result) Sentences() []string {
	c := &o.Stitched
	list := []string{fmt.Sprintf(
		"Stitched together, the %d test days returned %s, with a Sharpe of %s ± %s (its standard "+
			"error); a hold returned %s.", c.Days, c.Return.Percent(1), c.Sharpe.Text(2), c.Error.Text(2),
		c.Hold.Percent(1))}
	if once := o.onceSays(); once != "" {
		list = append(list, once)
	}
	if c.PSR.Missing != "" {
		return append(list, fmt.Sprintf("Nothing can be said about luck: %s.", c.PSR.Missing))
	}
	text := fmt.Sprintf("In excess of a hold at their own exposure their Sharpe is %s, with p %s.", c.Excess.Text(2),
		c.PSR.Value.Text(3))
	if o.Answer().Kind == research.HardByLuck {
		text += " That holds only if this was the only walk-forward: of twenty, one looks like this by luck."
	}
	return append(list, text)
}

// onceSays compares choosing anew with the settings of the first window throughout; empty: there is
// nothing to compare.
func (o *Result) onceSays() string {
	switch c := &o.Once; {
	case len(o.Windows) < 2 || len(c.Returns) == 0:
		return ""
	case o.Changed == 0:
		return "Each window chose the same settings: choosing anew changed nothing."
	default:
		text := fmt.Sprintf("Choosing anew returned %s; the first window's settings throughout (%s) returned %s.",
			o.Stitched.Return.Percent(1), research.SettingsText(o.OnceSettings), c.Return.Percent(1))
		if o.OnceDifference.Missing == "" {
			text += fmt.Sprintf(" Of pairs of equally good runs %s in 100 differ as much by luck.",
				(100 * o.OnceDifference.Value).Text(0))
		}
		return text
	}
}

// Answer rests on the stitched days, on which nothing was chosen.
func (o *Result) Answer() research.Answer {
	c := &o.Stitched
	if c.PSR.Missing != "" {
		return research.Unanswered(c.PSR.Missing)
	}
	unseen := research.LuckOf(1, c.Days).Detectable
	return research.NewAnswer(research.TestPSR, float64(c.PSR.Value), "worthless records of this length", c.Days,
		unseen)
}

// Finding is a figure with its explanation.
type Finding struct {
	Figure stats.Figure
	Text   string // the value, or why there is none
}

// Findings are the figures that go with explanations, in the order of a report.
func (o *Result) Findings() []Finding {
	efficiency := "missing: " + o.Efficiency.Missing
	if o.Efficiency.Missing == "" {
		efficiency = fmt.Sprintf("%s ± %s", o.Efficiency.Value.Text(2), o.EfficiencySpread.Text(2))
	}
	psr := "missing: " + o.Stitched.PSR.Missing
	if o.Stitched.PSR.Missing == "" {
		psr = o.Stitched.PSR.Value.Text(3)
	}
	return []Finding{{stats.FigureP, psr}, {stats.FigureError, "beside each Sharpe ratio"},
		{stats.FigureShare, o.Profitable.Percent(0)}, {stats.FigureEfficiency, efficiency}}
}

// WindowTable is a row for each window, below a row of titles.
func (o *Result) WindowTable() [][]string {
	rows := [][]string{{"test from", "parameters", "training: Sharpe", "test: Sharpe", "return", "days"}}
	for i := range o.Windows {
		w := &o.Windows[i]
		settings := research.SettingsText(w.Settings)
		switch {
		case len(w.Settings) == 0:
			settings = "none"
		case w.Kept:
			settings += " (kept)"
		}
		rows = append(rows, []string{dateOf(market.Time(w.TestFrom)), settings, w.In.SharpeText(), w.Out.SharpeText(),
			w.Out.Return.Percent(1), fmt.Sprint(w.Out.Days)})
	}
	return rows
}

// SharpeText is the Sharpe ratio with its standard error.
func (s *Side) SharpeText() string {
	if !s.Sharpe.Defined() {
		return s.Sharpe.Text(2)
	}
	return s.Sharpe.Text(2) + " ± " + s.Error.Text(2)
}

// CurveTable is a row for each kind of border and for the same settings throughout, below a row of
// titles.
func (o *Result) CurveTable() [][]string {
	rows := [][]string{{"at a border", "return", "drawdown", "Sharpe", "in excess", "p", "trips", "final equity"}}
	for _, c := range [...]*Curve{&o.Stitched, &o.Other, &o.Once} {
		if c.Missing == "" && len(c.Returns) == 0 {
			continue
		}
		sharpe := Side{Sharpe: c.Sharpe, Error: c.Error}
		rows = append(rows, []string{borderText(c.Border), c.Return.Percent(1), c.Worst.Percent(1), sharpe.SharpeText(),
			c.Excess.Text(2), c.PSR.Value.Text(3), fmt.Sprint(c.Trips), c.Final})
	}
	return rows
}

// borderText says what happens to positions at a border.
func borderText(border string) string {
	switch border {
	case "none":
		return "no border: the same settings throughout"
	case borderName(true):
		return "positions closed"
	}
	return "positions carried"
}

// Cut says how the range is cut.
func (o *Result) Cut() string {
	text := fmt.Sprintf("%d windows of %d days of training", len(o.Windows), o.Train)
	if o.Anchored {
		text = fmt.Sprintf("%d windows with training from the first day on, at least %d days", len(o.Windows), o.Train)
	}
	if o.Gap > 0 {
		text += fmt.Sprintf(", a gap of %d", o.Gap)
	}
	return text + fmt.Sprintf(" and %d of test", o.Test)
}

// WriteTable writes a CSV with a row for each window: its days, its settings by their keys, and
// both sides. A figure without a value is empty.
func (o *Result) WriteTable(w io.Writer) error {
	var keys []string
	for i := range o.Windows {
		for _, s := range o.Windows[i].Settings {
			if !slices.Contains(keys, s.Key) {
				keys = append(keys, s.Key)
			}
		}
	}
	out := csv.NewWriter(w)
	_ = out.Write(slices.Concat([]string{"train_from", "train_end", "test_from", "test_end"}, keys, []string{"kept",
		"objective", "in_days", "in_return", "in_sharpe", "out_days", "out_return", "out_sharpe"})) // Error has it
	for i := range o.Windows {
		one := &o.Windows[i]
		row := []string{one.TrainFrom.String(), one.TrainEnd.String(), one.TestFrom.String(), one.TestEnd.String()}
		for _, key := range keys {
			value := ""
			for _, s := range one.Settings {
				if s.Key == key {
					value = s.Value
				}
			}
			row = append(row, value)
		}
		row = append(row, strconv.FormatBool(one.Kept), one.Value.Cell())
		for _, side := range [...]*Side{&one.In, &one.Out} {
			row = append(row, strconv.Itoa(side.Days), side.Return.Cell(), side.Sharpe.Cell())
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}
