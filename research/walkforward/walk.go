package walkforward

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
)

// Config is how the range is cut into windows. A day is a UTC day.
type Config struct {
	Train, Test, Gap int  // days; the gap lies between training and test, and is seen by neither
	Anchored         bool // all trainings begin at the first day; else each is Train days long
	// Flat closes all positions at the next open at each border, with costs, and starts the
	// strategies anew. Else a border hands over positions, exits and state: see backtest.Border.
	Flat bool
	// Searching is called before a window searches by itself; nil: not called.
	Searching func(window, of int)
}

// Span is when a window trains and tests. Times are midnights, but for the end of the last test.
type Span struct {
	From, TrainEnd, Test, To market.Time
}

// Walk is a walk-forward that is ready to run.
type Walk struct {
	job      research.Job
	config   Config
	searcher *research.Searcher // of the whole range
	spans    []Span
	apart    string               // why each window searches by itself; empty: one sweep serves all
	own      []*research.Searcher // by window, where they do
}

// ErrShort means that the range is shorter than one window.
var ErrShort = errors.New("the range is too short for a walk-forward")

// ErrDays means that a number of days makes no window.
var ErrDays = errors.New("a walk-forward cannot be cut like this")

// ErrNothing means that no window has found parameters.
var ErrNothing = errors.New("no set meets the requirements in any window")

// fewest is the fewest days of a training: a Sharpe ratio needs two daily returns, and the first
// day of a run has none.
const fewest = 3

// day is the length of a UTC day.
const day = market.Time(24 * 60 * 60 * 1_000_000_000)

// New cuts the range into windows, behind the longest warm-up of the space. The job's To is set.
// Nothing has run yet. It wraps ErrShort, and the errors of research.Search.
func New(job research.Job, config Config) (*Walk, error) {
	for _, c := range [...]struct {
		name        string
		days, least int
	}{{"train", config.Train, fewest}, {"test", config.Test, 1}, {"gap", config.Gap, 0}} {
		if c.days < c.least {
			return nil, fmt.Errorf("%w: %s is %d days; want at least %d", ErrDays, c.name, c.days, c.least)
		}
	}
	searcher, err := research.NewSearcher(job)
	if err != nil {
		return nil, err
	}
	if !searcher.Alike() {
		return nil, errors.New("sets of this space read different candles; a walk-forward changes parameters inside " +
			"one run, which goes on with the same candles; vary parameters that read the same intervals")
	}
	w := &Walk{job: job, config: config, searcher: searcher, apart: apart(&job)}
	return w, w.cut()
}

// apart says why the winners of windows cannot be taken from one sweep over the range; empty: they
// can.
func apart(job *research.Job) string {
	if job.Method.Adaptive() {
		return fmt.Sprintf("%s chooses its sets by results, which must be those of the training alone", job.Method)
	}
	for _, f := range append([]*research.Formula{job.Objective}, job.Require...) {
		switch names := f.Beyond(); {
		case len(names) == 1 && names[0] == f.String():
			return f.String() + " does not follow from daily returns"
		case len(names) > 0:
			return fmt.Sprintf("%s needs %s, which do not follow from daily returns", f, strings.Join(names, " and "))
		}
	}
	return ""
}

// cut makes the spans.
func (w *Walk) cut() error {
	c := &w.config
	train, test, gap := market.Time(c.Train)*day, market.Time(c.Test)*day, market.Time(c.Gap)*day
	first, end := market.CeilTo(w.searcher.From(), day), w.job.To
	if have := max(end-first, 0) / day; first+train+gap+test > end {
		return fmt.Errorf("%w: train, gap and test are %d days, and %d are left from %s, behind the longest warm-up "+
			"of the space, to %s", ErrShort, c.Train+c.Gap+c.Test, have, dateOf(first), dateOf(end))
	}
	for from := first; from+train+gap+max(test/2, day) <= end; from += test { // a shorter rest goes to the last test
		s := Span{From: from, TrainEnd: from + train, Test: from + train + gap,
			To: min(from+train+gap+test, end)}
		if c.Anchored {
			s.From = first
		}
		w.spans = append(w.spans, s)
	}
	w.spans[len(w.spans)-1].To = end
	return nil
}

func dateOf(t market.Time) string { return t.Std().Format("2006-01-02") }

// Spans are the windows.
func (w *Walk) Spans() []Span { return w.spans }

// Apart says why each window searches by itself; empty: one sweep over the range serves all.
func (w *Walk) Apart() string { return w.apart }

// Sets is how many sets a search tries.
func (w *Walk) Sets() int { return w.searcher.Sets() }

// Cost is how much the walk-forward runs, as a multiple of one sweep over the range.
func (w *Walk) Cost() float64 {
	whole := float64(w.job.To - w.spans[0].From)
	tests := 2 * float64(w.spans[len(w.spans)-1].To-w.spans[0].Test) / whole // the stitched run, with both borders
	if w.apart == "" {
		return 1 + tests/float64(w.Sets())
	}
	trained := 0.0
	for _, s := range w.spans {
		trained += float64(s.TrainEnd - s.From)
	}
	return trained/whole + tests/float64(w.Sets())
}

// windowJob is the search of one window's training.
func (w *Walk) windowJob(at int) research.Job {
	job, s := w.job, w.spans[at]
	job.To = s.TrainEnd
	job.Worker = func() (research.Make, error) {
		make, err := w.job.Worker()
		return func(settings []research.Setting) (*backtest.Plan, error) {
			p, err := make(settings)
			if err != nil {
				return nil, err
			}
			own := *p
			own.From, own.To = s.From, s.TrainEnd
			return &own, nil
		}, err
	}
	if tried := job.Tried; tried != nil {
		job.Tried = func(of research.Tried) {
			if of.To == 0 {
				of.To = s.TrainEnd
			}
			tried(of)
		}
	}
	job.Identity.Config += fmt.Sprintf(" train %d %d", s.From, s.TrainEnd)
	if job.File != "" && !strings.Contains(job.File, "*") {
		ext := filepath.Ext(job.File)
		job.File = fmt.Sprintf("%s-window%d%s", strings.TrimSuffix(job.File, ext), at+1, ext)
	}
	return job
}

// searcherOf is the searcher of one window.
func (w *Walk) searcherOf(at int) (s *research.Searcher, err error) {
	if w.own == nil {
		w.own = make([]*research.Searcher, len(w.spans))
	}
	if w.own[at] == nil {
		if w.own[at], err = research.NewSearcher(w.windowJob(at)); err != nil {
			return nil, fmt.Errorf("window %d: %w", at+1, err)
		}
	}
	return w.own[at], nil
}

// Run searches, with the job's file, and runs the stitched test days with both kinds of border. The
// outcome does not depend on the number of workers. It wraps ErrNothing and the errors of
// research.Search.
func (w *Walk) Run(ctx context.Context) (*Result, error) {
	choices, files, err := w.choose(ctx, nil, true)
	if err != nil {
		return nil, err
	}
	return w.outcome(ctx, choices, files)
}

// Score is the outcome of a walk-forward, for a test of the whole procedure.
type Score struct {
	Found  bool    // some window has found parameters, and the stitched days have a Sharpe ratio
	Excess float64 // annual Sharpe ratio of the stitched days in excess of a hold at their own mean exposure
	Sharpe float64 // the same against cash
	From   market.Time
	To     market.Time
	Days   int // daily returns
}

// Again runs the whole walk-forward in memory, over plans that alter has changed, such as their
// Open; nil: nothing is changed. Several goroutines call alter. The windows stay those of the job.
func (w *Walk) Again(ctx context.Context, alter func(*backtest.Plan)) (r Score, err error) {
	choices, _, err := w.choose(ctx, alter, false)
	if err != nil || first(choices) < 0 {
		return r, err
	}
	p, err := w.stitched(choices, w.config.Flat)
	if err != nil {
		return r, err
	}
	if alter != nil {
		alter(p)
	}
	runs, err := backtest.RunTogether(ctx, []*backtest.Plan{p}, backtest.LockstepOptions{})
	if err == nil {
		err = runs[0].Err
	}
	if err != nil {
		return r, err
	}
	excess, err := excessOf(&runs[0].Track)
	r = Score{Found: err == nil, Excess: annual(excess.Sharpe), Sharpe: float64(runs[0].Result.Performance.Sharpe),
		From: p.From, To: w.spans[len(w.spans)-1].To, Days: len(runs[0].Track.Returns)}
	return r, nil
}
