package research

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// OutcomeSchema is the version of the JSON of an Outcome.
const OutcomeSchema = 1

// Outcome is the result of a sweep.
type Outcome struct {
	Schema    int             `json:"schema"`
	Identity  Identity        `json:"sweep"`
	Objective string          `json:"objective"`
	Require   []string        `json:"require"`
	From      backtest.Moment `json:"from"` // each set trades and counts from here
	To        backtest.Moment `json:"to"`
	Days      int             `json:"daily_returns"`

	Space     uint64 `json:"space"`     // sets of the space
	LeftOut   int    `json:"left_out"`  // refused by the parameters' own rules, of those that were looked at
	Tried     int    `json:"tried"`     // sets that ran over the whole range
	Started   int    `json:"started"`   // sets that ran, over parts of the range too
	Distinct  int    `json:"distinct"`  // different series of daily returns among the tried
	Undefined int    `json:"undefined"` // tried, but the objective has no value; they rank last
	Unfit     int    `json:"unfit"`     // tried, but a requirement is not met; they are not ranked
	Halted    int    `json:"halted"`    // tried, and a strategy was halted

	Top     []Ranked `json:"top"` // the best, at most ten
	Map     *HeatMap `json:"map"` // nil: no dimension has two values
	Verdict Verdict  `json:"verdict"`
	// Family alone depends on what else was searched; nil: there is no ledger.
	Family *Family `json:"family,omitempty"`
	// DataWarnings are those of the Job.
	DataWarnings []string `json:"data_warnings,omitempty"`

	File string `json:"file"`

	// Splits are those of PBO, for a picture of them; nil where PBO is missing.
	Splits *stats.Overfitting `json:"-"`
}

// Counts says in a sentence what was tried, and what was not.
func (o *Outcome) Counts() string {
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
	text += "."
	if o.Family != nil {
		text += " " + o.Family.text()
	}
	return text
}

// Ranked is one of the best sets.
type Ranked struct {
	Set      uint64          `json:"set"`
	Settings []Setting       `json:"settings"`
	Value    backtest.Figure `json:"value"` // of the objective
	Figures  []Named         `json:"figures"`
	// Excess is the annual Sharpe ratio in excess of a hold at the set's own mean exposure, DSR the
	// p that the set would have as the winner, after the number of tries.
	Excess backtest.Figure `json:"excess_sharpe"`
	DSR    Finding         `json:"dsr"`
}

// Named is a figure with its name.
type Named struct {
	Name  string          `json:"name"`
	Value backtest.Figure `json:"value"`
}

// Figure is the figure of a name.
func (r *Ranked) Figure(name string) backtest.Figure {
	for _, f := range r.Figures {
		if f.Name == name {
			return f.Value
		}
	}
	return backtest.Figure(math.NaN())
}

// HeatMap is the mean objective over two dimensions, in at most 12 columns and 12 rows. A cell
// stands for neighbouring values of both, and for all values of the other dimensions.
type HeatMap struct {
	X       string              `json:"x"` // key of the columns
	Y       string              `json:"y"` // key of the rows; empty: there is one row
	Columns []string            `json:"columns"`
	Rows    []string            `json:"rows"`
	Cells   [][]backtest.Figure `json:"cells"` // by row, then column; null: no set was tried
}

const (
	topSets  = 10
	mapCells = 12 // columns, and rows
)

// Outcome ranks the tries and judges the best. It wraps ErrUndefined where no try has a value.
func (f *Found) Outcome() (_ *Outcome, err error) {
	s := f.sweep
	o := &Outcome{Schema: OutcomeSchema, Identity: s.job.Identity, Objective: s.job.Objective.String(),
		Require: []string{}, From: backtest.Moment(s.from), To: backtest.Moment(s.to), Days: s.days,
		Space: s.job.Space.size, LeftOut: s.chooser.leftOut, File: s.job.File,
		DataWarnings: s.job.DataWarnings}
	for _, f := range s.job.Require {
		o.Require = append(o.Require, f.String())
	}
	series, started := map[uint64]bool{}, map[uint64]bool{}
	var whole []*Try
	for i := range s.tries {
		t := &s.tries[i]
		started[t.Set] = true
		if t.rung != 0 {
			continue
		}
		whole = append(whole, t)
		series[t.series] = true
		o.Undefined += count(!t.Valued())
		o.Unfit += count(!t.fits)
		o.Halted += count(t.halted)
	}
	o.Tried, o.Started, o.Distinct = len(whole), len(started), len(series)
	if o.Undefined == o.Tried {
		return nil, fmt.Errorf("%w: %s in %d sets; did any of them trade? A "+
			"figure that divides by losses has no value without a loss", ErrUndefined, o.Objective, o.Tried)
	}
	top := s.rank(whole, o)
	o.Map = s.heatMap(whole)
	o.Verdict = s.judge(top, o)
	o.Verdict.Few = len(top) > 0 && top[0].Figures.Of("trips") < fewTrips
	o.Family, err = s.family(top, &o.Verdict)
	return o, err
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// rank fills in the top and returns its tries; none: no set meets the requirements.
func (s *sweep) rank(whole []*Try, o *Outcome) []*Try {
	fit := slices.DeleteFunc(slices.Clone(whole), func(t *Try) bool { return !t.Ranked() })
	slices.SortStableFunc(fit, func(a, b *Try) int { return better(a.Value, b.Value) })
	fit = fit[:min(len(fit), topSets)]
	for _, t := range fit {
		t.Settings = s.job.Space.Settings(t.Set)
		r := Ranked{Set: t.Set, Settings: t.Settings, Value: backtest.Figure(t.Value)}
		for i, name := range FigureNames() {
			r.Figures = append(r.Figures, Named{name, backtest.Figure(t.Figures[i])})
		}
		o.Top = append(o.Top, r)
	}
	if len(fit) == 0 {
		o.Top = []Ranked{}
	}
	return fit
}

// heatMap is that of the first two dimensions with several values.
func (s *sweep) heatMap(whole []*Try) *HeatMap {
	var axes []int
	for i, d := range s.job.Space.dims {
		if len(d.Values) > 1 && len(axes) < 2 {
			axes = append(axes, i)
		}
	}
	x := &s.job.Space.dims[axes[0]]
	m := &HeatMap{X: x.Key, Columns: bins(x), Rows: []string{""}}
	if len(axes) == 2 {
		y := &s.job.Space.dims[axes[1]]
		m.Y, m.Rows = y.Key, bins(y)
	}
	sums := make([]float64, len(m.Columns)*len(m.Rows))
	counts := make([]float64, len(sums))
	for _, t := range whole {
		if !t.Valued() {
			continue
		}
		at := s.job.Space.Places(t.Set)
		cell := at[axes[0]] * len(m.Columns) / len(x.Values)
		if len(axes) == 2 {
			cell += at[axes[1]] * len(m.Rows) / len(s.job.Space.dims[axes[1]].Values) * len(m.Columns)
		}
		sums[cell], counts[cell] = sums[cell]+t.Value, counts[cell]+1
	}
	for row := range m.Rows {
		cells := make([]backtest.Figure, len(m.Columns))
		for column := range cells {
			cell := row*len(m.Columns) + column
			cells[column] = backtest.Figure(sums[cell] / counts[cell])
		}
		m.Cells = append(m.Cells, cells)
	}
	return m
}

// bins are the labels of neighbouring values: the first of each bin.
func bins(d *Dimension) (labels []string) {
	n := min(len(d.Values), mapCells)
	for bin := range n {
		labels = append(labels, d.Values[(bin*len(d.Values)+n-1)/n])
	}
	return labels
}
