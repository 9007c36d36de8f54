package stress

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
)

// OutcomeSchema is the version of a Result as JSON. It rises when a field changes its meaning or
// goes away, not when one is added.
const OutcomeSchema = 1

// Result is the result of a stress.
type Result struct {
	Schema    int              `json:"schema"`
	Title     string           `json:"title"`
	Synthetic bool             `json:"synthetic_data"`
	Run       backtest.RunInfo `json:"run"` // of the plain run
	From      backtest.Moment  `json:"from"`
	To        backtest.Moment  `json:"to"`
	Currency  string           `json:"currency"`
	Seed      uint64           `json:"seed"`
	Plain     Figures          `json:"plain"`
	// Drawdown is the drawdown that counts as broken; 0: none does.
	Drawdown float64 `json:"drawdown_limit"`
	// Broken says what is wrong with the plain run itself; empty: nothing.
	Broken string `json:"broken,omitempty"`
	// Breaks lists the changes that break the run, the smallest first, then the others; empty where
	// the plain run is broken.
	Breaks []Break   `json:"breaks"`
	Again  []Change  `json:"again"` // the run again, by kind
	Record *Resample `json:"record"`
}

// Figures are the figures of a run.
type Figures struct {
	Return   backtest.Figure `json:"return"`
	Sharpe   backtest.Figure `json:"sharpe"`
	Drawdown backtest.Figure `json:"drawdown"`
	Final    backtest.Amount `json:"final_equity"`
	Trips    int64           `json:"trips"`
}

// Change is one kind of change, at all of its levels.
type Change struct {
	Kind    string  `json:"kind"`
	Title   string  `json:"title"`
	Says    string  `json:"says"`
	Missing string  `json:"missing,omitempty"` // why it has no levels
	Levels  []Level `json:"levels"`
}

// Level is a change at one size.
type Level struct {
	Label  string    `json:"label"`
	Grade  int       `json:"grade"`  // 0 no change, 1 small, 2 large, 3 extreme
	Median Figures   `json:"median"` // the middle run by its return
	Worst  Figures   `json:"worst"`
	Broken int       `json:"broken"` // runs that are broken
	Why    string    `json:"why"`    // of the middle run, or of the worst one; empty: not broken
	Halted int       `json:"halted"` // runs in which a strategy was halted
	Runs   []Figures `json:"runs"`
}

// Break is the line of a kind of change in the table of what breaks the run.
type Break struct {
	Kind    string  `json:"kind"`
	Title   string  `json:"title"`
	At      string  `json:"at"`    // the smallest level that breaks it; empty: none does
	Grade   int     `json:"grade"` // of that level
	Holds   string  `json:"holds"` // the largest level below it, or of all; empty: none
	Why     string  `json:"why"`
	Figures Figures `json:"figures"` // of the middle run there, or at the largest level
	Share   string  `json:"share"`   // "9 of 28 runs"; empty: one run
}

// breaks says what breaks a run; empty: nothing.
func (s *stressed) breaks(f *Figures) string {
	switch {
	case f.Return < 0:
		return "a loss"
	case f.Sharpe < 0:
		return "a Sharpe below 0"
	case s.job.Drawdown > 0 && float64(f.Drawdown) > s.job.Drawdown:
		return "a drawdown over " + backtest.Figure(s.job.Drawdown).Percent(0)
	}
	return ""
}

// outcome sums up the runs.
func (s *stressed) outcome(record *Resample) (*Result, error) {
	o := &Result{Schema: OutcomeSchema, Title: s.result.Title, Synthetic: s.result.Synthetic,
		Run: s.result.Run, From: s.result.From, To: s.result.To,
		Currency: s.result.Currency, Seed: s.job.Seed, Plain: figuresOf(s.result), Drawdown: s.job.Drawdown,
		Record: record, Breaks: []Break{}}
	o.Broken = s.breaks(&o.Plain)
	for k := range kinds {
		if k >= lost && len(s.signals) == 0 {
			continue
		}
		c := Change{Kind: kindTable[k].name, Title: kindTable[k].title, Says: kindTable[k].says, Missing: s.missing[k],
			Levels: s.levels(k)}
		if c.Missing == "" && len(c.Levels) == 0 {
			c.Missing = "the run has more of it than all levels"
		}
		if k == costs && !same(&c.Levels[0].Runs[0], &o.Plain) {
			return nil, ErrDiffers
		}
		o.Again = append(o.Again, c)
		if len(c.Levels) > 0 && o.Broken == "" {
			o.Breaks = append(o.Breaks, breakOf(&c))
		}
	}
	slices.SortStableFunc(o.Breaks, sooner)
	return o, nil
}

// same reports whether two runs ended alike to the last bit.
func same(a, b *Figures) bool {
	bits := func(f *Figures) [3]uint64 {
		return [...]uint64{math.Float64bits(float64(f.Return)), math.Float64bits(float64(f.Sharpe)),
			math.Float64bits(float64(f.Drawdown))}
	}
	return bits(a) == bits(b) && a.Final == b.Final && a.Trips == b.Trips
}

// sooner orders what breaks a run: the smaller change first, then what it leads to. What does not
// break it comes last.
func sooner(a, b Break) int {
	if (a.At == "") != (b.At == "") {
		if a.At != "" {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Grade, b.Grade), cmp.Compare(a.Figures.Return, b.Figures.Return))
}

// levels are those of a kind.
func (s *stressed) levels(k kind) (list []Level) {
	list = []Level{}
	for i := range s.cases {
		c := &s.cases[i]
		if c.kind != k {
			continue
		}
		if c.level == len(list) {
			list = append(list, Level{Label: c.change.label, Grade: c.change.grade})
		}
		l := &list[c.level]
		l.Runs = append(l.Runs, c.ran)
		if c.halted {
			l.Halted++
		}
	}
	for i := range list {
		s.sum(&list[i])
	}
	return list
}

// brokenShare is the part of a level's runs that makes the level broken.
const brokenShare = 0.25

// sum sums up the runs of a level.
func (s *stressed) sum(l *Level) {
	sorted := slices.Clone(l.Runs)
	slices.SortStableFunc(sorted, func(a, b Figures) int { return cmp.Compare(a.Return, b.Return) })
	l.Worst, l.Median = sorted[0], sorted[(len(sorted)-1)/2]
	for i := range sorted {
		if s.breaks(&sorted[i]) != "" {
			l.Broken++
		}
	}
	if float64(l.Broken) < brokenShare*float64(len(sorted)) {
		return
	}
	if l.Why = s.breaks(&l.Median); l.Why == "" && l.Broken > 0 {
		at := slices.IndexFunc(sorted, func(f Figures) bool { return s.breaks(&f) != "" })
		l.Why = s.breaks(&sorted[at])
	}
}

// breakOf finds the smallest level that breaks the run.
func breakOf(c *Change) Break {
	b := Break{Kind: c.Kind, Title: c.Title}
	for i := range c.Levels {
		l := &c.Levels[i]
		b.Figures, b.Share = l.Median, ""
		if len(l.Runs) > 1 {
			b.Share = fmt.Sprintf("%d of %d runs", l.Broken, len(l.Runs))
		}
		if l.Why != "" {
			b.At, b.Grade, b.Why = l.Label, l.Grade, l.Why
			return b
		}
		b.Holds = l.Label
	}
	return b
}
