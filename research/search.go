package research

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Found is the tries of a search. Close it.
type Found struct {
	// Tries are the sets that ran over the whole range, the best first. Those that are not ranked,
	// without a value or against a requirement, come last.
	Tries []*Try
	// Winner is the first of them, with its Settings; nil: no set meets the requirements.
	Winner *Try

	From    market.Time // each set traded and counted from here
	To      market.Time // end of the last day
	Days    int         // daily returns of a set, at most
	Space   uint64      // sets of the space
	LeftOut int         // of those that were looked at, refused by the parameters' own rules
	Why     string      // the first refusal; empty: there is none
	Started int         // sets that ran, over parts of the range too
	File    string      // where the rows are; empty: in memory

	sweep *sweep
	close func() error
}

// Returns writes the daily returns of a try into a slice of Try.Days numbers. Several goroutines
// may call it.
func (f *Found) Returns(t *Try, into []float64) error { return f.sweep.store.series(t, false, into) }

// Excess is Returns in excess of a hold at the set's own mean exposure.
func (f *Found) Excess(t *Try, into []float64) error { return f.sweep.store.series(t, true, into) }

// Distinct are the tries whose daily returns no earlier one has, in the order in which they ran.
func (f *Found) Distinct() []*Try { return f.sweep.distinct() }

// InOrder are the tries in the order in which they came to the file.
func (f *Found) InOrder() []*Try {
	return slices.SortedFunc(slices.Values(f.Tries), func(a, b *Try) int { return cmp.Compare(a.at, b.at) })
}

// Hills are the plateaus of a grid, the best first, or why there are none: the sets that are ranked
// are its ground.
func (f *Found) Hills() (hills []stats.Hill, missing string) {
	space, around := f.sweep.job.Space, uint64(1)
	var steps []int
	for _, d := range space.dims {
		steps, around = append(steps, len(d.Values)), min(around*uint64(min(len(d.Values), 3)), space.size)
	}
	if f.sweep.job.Method != Grid || space.size > maxHills || space.size*around > maxNeighbours {
		return nil, fmt.Sprintf("only a grid of at most %d sets, and of few settings, has hills", maxHills)
	}
	values := make([]float64, space.size)
	for i := range values {
		values[i] = math.NaN()
	}
	for _, t := range f.Tries {
		if t.Ranked() {
			values[t.Set] = t.Value
		}
	}
	return slices.DeleteFunc(stats.Hills(values, steps),
		func(h stats.Hill) bool { return !(h.Plateau.Score >= stats.Alone) }), ""
}

// The sets of the largest grid whose hills are looked for, and their neighbours in all.
const (
	maxHills      = 100_000
	maxNeighbours = 50_000_000
)

// Try is the try of a set; nil: it did not run.
func (f *Found) Try(set uint64) *Try {
	if i := slices.IndexFunc(f.Tries, func(t *Try) bool { return t.Set == set }); i >= 0 {
		return f.Tries[i]
	}
	return nil
}

// Again runs the winner again and returns its days: those of the hold are kept nowhere. nil: there
// is no winner, or the tries come from the file alone.
func (f *Found) Again(ctx context.Context) (*backtest.Track, error) {
	if f.Winner == nil || f.sweep.glanced {
		return nil, nil
	}
	make, err := f.sweep.job.Worker()
	if err != nil {
		return nil, err
	}
	p, err := make(f.Winner.Settings)
	if err != nil {
		return nil, err
	}
	runs, err := backtest.RunTogether(ctx, []*backtest.Plan{p}, backtest.LockstepOptions{From: f.From})
	if err == nil {
		err = runs[0].Err
	}
	if err != nil {
		return nil, fmt.Errorf("run the winner again: %w", err)
	}
	return &runs[0].Track, nil
}

// Close closes the file.
func (f *Found) Close() error { return f.close() }

// Search tries the sets that a method chooses, as Sweep does, and judges nothing. Without Job.File
// the rows are kept in memory. Its errors are those of Sweep.
func Search(ctx context.Context, job Job) (*Found, error) {
	s, err := NewSearcher(job)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx)
}

// open opens the file of the job, or memory.
func (s *sweep) open() (closing func() error, err error) {
	if s.job.File == "" {
		s.store = &memory{}
		return func() error { return nil }, nil
	}
	if s.job.Data != nil {
		if s.job.Identity.Data, err = s.job.Data(); err != nil {
			return nil, err
		}
	}
	s.job.File = strings.ReplaceAll(s.job.File, "*", s.job.Identity.hash()[:8])
	file, err := openFile(s.job.File, &s.job.Identity)
	if err != nil {
		return nil, err
	}
	s.store, s.torn = file, file.torn
	return file.Close, nil
}

// found is a search that has ended.
func (s *sweep) found(closing func() error) *Found {
	f := &Found{From: s.from, To: s.to, Days: s.days, Space: s.job.Space.size, LeftOut: s.chooser.leftOut,
		Why: s.chooser.why, File: s.job.File, sweep: s, close: closing}
	started := map[uint64]bool{}
	for i := range s.tries {
		t := &s.tries[i]
		started[t.Set] = true
		if t.rung == 0 {
			f.Tries = append(f.Tries, t)
		}
	}
	f.Started = len(started)
	slices.SortStableFunc(f.Tries, func(a, b *Try) int {
		if a.Ranked() != b.Ranked() {
			return 1 - 2*count(a.Ranked())
		}
		return better(a.Value, b.Value)
	})
	if len(f.Tries) > 0 && f.Tries[0].Ranked() {
		f.Winner = f.Tries[0]
		f.Winner.Settings = s.job.Space.Settings(f.Winner.Set)
	}
	return f
}

// Ranked reports whether a try may be the winner: it has a value and meets the requirements.
func (t *Try) Ranked() bool { return t.fits && t.Valued() }

// Valued reports whether the objective has a value: a finite number. A try without one ranks last.
func (t *Try) Valued() bool { return backtest.Figure(t.Value).Defined() }

// Days is the number of daily returns. The days follow each other.
func (t *Try) Days() int { return t.days }

// First is the end of the first day.
func (t *Try) First() market.Time { return market.Time(t.first) * day }

// Searcher runs the search of one Job: once as Search does, and any number of times in memory and
// on other candles. It keeps all that does not depend on them: which sets are allowed, the first
// instant, and the plans' bases. One goroutine uses it.
type Searcher struct {
	base  *sweep
	first []trial
	ran   bool // Run was called
	mutex sync.Mutex
	makes []Make
	used  int // of makes, by the search that runs
}

// NewSearcher looks at the sets of a job.
func NewSearcher(job Job) (*Searcher, error) {
	s := &Searcher{}
	worker := job.Worker
	job.Worker = func() (Make, error) { return s.worker(worker) }
	base, err := newSweep(job)
	if err != nil {
		return nil, err
	}
	s.base = base
	s.first, err = base.begin()
	return s, err
}

// From is the instant from which each set trades and counts.
func (s *Searcher) From() market.Time { return s.base.from }

// Sets is how many sets a search tries; of CMA-ES: at most.
func (s *Searcher) Sets() int { return s.base.total }

// Alike reports whether all sets that were looked at read the same candles.
func (s *Searcher) Alike() bool { return len(s.base.chooser.datasets) == 1 }

// Plan is the plan of settings. Plans of one Searcher are run by one goroutine, and not while it
// searches.
func (s *Searcher) Plan(settings []Setting) (*backtest.Plan, error) {
	s.used = 0
	make, err := s.base.job.Worker()
	if err != nil {
		return nil, err
	}
	return make(settings)
}

// Run is Search of the job, with its file, its Runner and its reports. Call it once.
func (s *Searcher) Run(ctx context.Context) (*Found, error) {
	if s.ran {
		return nil, errors.New("a search runs once; call Search to run it again")
	}
	s.ran, s.used = true, 0
	closing, err := s.base.open()
	if err != nil {
		return nil, err
	}
	if err = s.base.run(ctx, s.first); err != nil {
		return nil, errors.Join(err, closing())
	}
	return s.base.found(closing), nil
}

// worker is a Make that no goroutine of the present search has.
func (s *Searcher) worker(fresh func() (Make, error)) (Make, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.used == len(s.makes) {
		make, err := fresh()
		if err != nil {
			return nil, err
		}
		s.makes = append(s.makes, make)
	}
	s.used++
	return s.makes[s.used-1], nil
}

// Search runs the search in memory. alter changes each plan before it runs, such as its Open; nil:
// nothing is changed. Several goroutines call alter. The instant from which sets count stays that
// of the job.
func (s *Searcher) Search(ctx context.Context, alter func(*backtest.Plan)) (*Found, error) {
	return s.again(ctx, alter, &memory{})
}

// Winner is Search that keeps the daily returns of the winner alone: Returns and Excess of other
// tries are errors.
func (s *Searcher) Winner(ctx context.Context, alter func(*backtest.Plan)) (*Found, error) {
	return s.again(ctx, alter, &memory{sparse: true})
}

// again runs the search with a store of its own.
func (s *Searcher) again(ctx context.Context, alter func(*backtest.Plan), rows *memory) (*Found, error) {
	job := s.base.job
	job.File, job.Began, job.Trial, job.Progress, job.Tried, job.Family = "", nil, nil, nil, nil, nil
	again := &sweep{job: job, chooser: s.base.chooser, from: s.base.from, total: s.base.total, store: rows}
	rows.best = &again.best
	again.runner = &pool{space: job.Space, workers: job.Workers, worker: func() (Make, error) {
		make, err := job.Worker()
		if err != nil || alter == nil {
			return make, err
		}
		return func(settings []Setting) (*backtest.Plan, error) {
			p, err := make(settings)
			if err != nil {
				return nil, err
			}
			own := *p
			alter(&own)
			return &own, nil
		}, nil
	}}
	s.used = 0
	var err error
	if again.sampler, err = newSampler(job.Method, again.chooser, job.Sets, job.Seed); err != nil {
		return nil, err
	}
	first, err := again.sampler.next(nil)
	if err != nil {
		return nil, err
	}
	if err := again.run(ctx, first); err != nil {
		return nil, err
	}
	return again.found(func() error { return nil }), nil
}

// memory is a store without a file.
type memory struct {
	rows   []Row
	first  []int // by group: the place of its first row in rows
	sparse bool  // only the series of the best try, and of the latest rows, are kept
	best   **Try // of the rows that have been added to the search
	kept   int64 // the place of the best row so far
	seen   int   // rows before it have lost their series, but for the best one
}

func (m *memory) groups() int { return len(m.first) }

func (m *memory) group(n int) ([]Row, error) {
	end := len(m.rows)
	if n+1 < len(m.first) {
		end = m.first[n+1]
	}
	return m.rows[m.first[n]:end], nil
}

// forget drops the series of all rows so far but the best.
func (m *memory) forget() {
	at := int64(-1)
	if *m.best != nil {
		at = (*m.best).at
	}
	if m.seen > 0 && m.kept >= 0 && m.kept != at {
		m.rows[m.kept].Daily, m.rows[m.kept].Excess = nil, nil
	}
	for ; m.seen < len(m.rows); m.seen++ {
		if int64(m.seen) != at {
			m.rows[m.seen].Daily, m.rows[m.seen].Excess = nil, nil
		}
	}
	m.kept = at
}

func (m *memory) append(groups ...[]Row) error {
	if m.sparse {
		m.forget()
	}
	for _, rows := range groups {
		m.first, m.rows = append(m.first, len(m.rows)), append(m.rows, rows...)
	}
	return nil
}

func (m *memory) place(group int) int64 { return int64(m.first[group]) }

func (m *memory) size(*Row) int64 { return 1 }

func (m *memory) series(t *Try, excess bool, into []float64) error {
	row := &m.rows[t.at]
	list := row.Daily
	if excess {
		list = row.Excess
	}
	if len(list) < t.days {
		return errors.New("the returns of this try were not kept")
	}
	if len(into) < len(list) {
		return fmt.Errorf("%d days do not fit into %d", len(list), len(into))
	}
	for i, x := range list {
		into[i] = float64(x)
	}
	return nil
}
