package research

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// Make makes the plan of a set. The plans of one Make are run by one goroutine.
type Make func(settings []Setting) (*backtest.Plan, error)

// Job is a sweep: what is varied, how sets are chosen, and how one becomes a plan.
type Job struct {
	Space  *Space
	Method Method
	Sets   int // how many sets to try; 0: 1,000, or all of a grid
	Seed   uint64

	Objective *Formula   // ranks sets; more is better
	Require   []*Formula // a set that does not meet one is not shown among the best

	// Look says without running it whether a set is allowed. Sets of one dataset read the same
	// candles, and are run together. An error with a strategy.InvalidError leaves the set out; any
	// other error ends the sweep.
	Look func(settings []Setting) (dataset string, err error)
	// Warmup is a key of the warm-ups of a set that Look allows: sets of one dataset and one key
	// can trade from the same time on, so that one of them is asked for its plan; nil: each is.
	Warmup func(settings []Setting) (key string, err error)
	// Worker is called once for each goroutine that runs sets.
	Worker  func() (Make, error)
	Workers int // how many; 0: one a core. The number changes no result
	// Runner runs the groups; nil: goroutines of this process with the Makes of Worker.
	Runner Runner

	To market.Time // end of the candles; Halving cuts the range before it

	// File is where the tried sets are kept; empty: in memory. A sweep that was killed goes on from
	// there. A * in its name is replaced by eight characters of a hash of the identity.
	File     string
	Identity Identity // Code and Config, and Data without the next field; Sweep fills in the rest
	// DataWarnings are those of a run before it begins: holes, and candles that hide prices.
	DataWarnings []string
	// Data is a hash of the candles of all sets that were looked at; nil: Identity has it.
	Data func() (string, error)

	Began func(Start) // called once, before anything runs; nil: not called
	// Trial is called while the first groups run, before one of them is kept: part is the part of
	// the sweep's work that has been done, and over says that this is the last call. The groups are
	// spread over all, and cost about as much as the others. Where it returns true, the trial is
	// over. nil: there is no trial.
	Trial    func(part float64, over bool) (enough bool)
	Progress func(Progress) // called as sets run and come to the file; nil: not called
	// Watch is called with each run that a goroutine begins, with its settings as SettingsText; and
	// with nil before its next group: the runs before have ended. Several goroutines call it, each
	// with its number. nil: not called.
	Watch func(goroutine int, set string, w *backtest.Watched)

	// Tried is called with the rows of each group, in their order, once they are kept; nil: not
	// called. Family counts the tries of all searches when the sets have run; nil, or a nil Family:
	// there is no ledger.
	Tried  func(Tried)
	Family func() (*Family, error)
}

// Start describes a sweep that is about to run.
type Start struct {
	Space   uint64      // sets of the space
	LeftOut int         // of those that were looked at, refused by the parameters' own rules
	Why     string      // the first refusal; empty: there is none
	Sets    int         // to try; of CMA-ES: at most
	Done    int         // of those, in the file from an earlier start
	Torn    string      // what was wrong with the end of the file; empty: nothing
	From    market.Time // each set trades and counts from here
	To      market.Time
	Days    int // daily returns of a set over the whole range; 0: not known, and so is Luck
	Luck    Luck
}

// Progress is how far a sweep has come.
type Progress struct {
	Done, Sets int
	Groups     int     // of sets that ran together, in this process
	Part       float64 // of the work that was to do when this process began; an estimate
	Best       *Try    // by the objective, of those that meet the requirements; nil: none yet
}

// Try is a set that ran.
type Try struct {
	Set      uint64
	Settings []Setting
	Value    float64 // of the objective
	Figures  Figures

	rung   uint8
	fits   bool
	halted bool
	days   int
	first  int32  // end of its first day with a return, in days since 1970
	at     int64  // of its row in the store
	series uint64 // a hash of the daily returns
}

// Sweep tries the sets that a method chooses, and judges the best. The outcome depends on the Job
// without its Workers alone. The error of a cancelled ctx leaves the file as it is: the same Sweep
// goes on from there. It wraps ErrEmptySpace, ErrOneSet, ErrNoSets, ErrUndefined, ErrBusy or
// backtest.ErrNoCandles where that is the reason.
func Sweep(ctx context.Context, job Job) (*Outcome, error) {
	found, err := Search(ctx, job)
	if err != nil {
		return nil, err
	}
	outcome, err := found.Outcome()
	return outcome, errors.Join(err, found.Close())
}

// sweep is a running Sweep.
type sweep struct {
	job     Job
	chooser *chooser
	sampler sampler
	store   store
	runner  Runner
	torn    string // see Start
	glanced bool   // the tries come from the file alone: see Kept
	from    market.Time
	to      market.Time
	days    int
	candle  market.Time // length of the shortest candles that the sets read; 0: not known

	tries  []Try // in the order of the file, of parts of the range too
	groups int   // that are kept, and read or written by this process
	done   int   // tries on the whole range
	total  int   // sets to try: of CMA-ES at most
	ran    int   // groups, in this process
	best   *Try
	began  bool
	work   workload
}

func newSweep(job Job) (*sweep, error) {
	if job.Space == nil {
		return nil, ErrEmptySpace
	}
	if job.Space.size == 1 {
		return nil, ErrOneSet
	}
	if job.Workers <= 0 {
		job.Workers = runtime.GOMAXPROCS(0)
	}
	job.identify()
	s := &sweep{job: job, runner: job.Runner}
	if s.runner == nil {
		s.runner = &pool{space: job.Space, worker: job.Worker, workers: job.Workers, to: job.To, watch: job.Watch}
	}
	s.chooser = &chooser{space: job.Space, number: map[string]uint32{}, dataset: map[uint64]uint32{},
		look: job.Look, warmup: job.Warmup, waits: map[wait]uint64{}}
	sampler, err := newSampler(job.Method, s.chooser, job.Sets, job.Seed)
	s.sampler = sampler
	return s, err
}

// identify fills in the identity, but for the candles.
func (job *Job) identify() {
	id := &job.Identity
	id.Version, id.Method, id.Sets, id.Seed, id.Figures = fileVersion, job.Method, job.Sets, job.Seed, FigureNames()
	id.Space, id.Objective = nil, ""
	for _, d := range job.Space.dims {
		id.Space = append(id.Space, d.Key+"="+strings.Join(d.Values, ","))
	}
	if job.Method.Adaptive() {
		id.Objective = job.Objective.String()
	}
}

// begin chooses the first batch and the instant from which all sets count.
func (s *sweep) begin() ([]trial, error) {
	first, err := s.sampler.next(nil)
	if err != nil {
		return nil, err
	}
	switch {
	case len(first) == 0:
		return nil, fmt.Errorf("%w: %s", ErrNoSets, s.chooser.why)
	case len(first) == 1:
		return nil, fmt.Errorf("%w; %d are left out: %s", ErrOneSet, s.chooser.leftOut, s.chooser.why)
	}
	s.total = len(first)
	if s.job.Method == CMAES {
		s.total = s.sampler.(*cmaes).budget
	}
	s.from, err = s.commonFrom(first)
	return first, err
}

// maxWarmups is how many sets are asked for their warm-ups: all of a smaller space.
const maxWarmups = 20_000

// commonFrom is the instant after the longest warm-up of the space: of the first batch, of the
// corners, and of sets spread over the rest.
func (s *sweep) commonFrom(first []trial) (from market.Time, err error) {
	ask, err := s.chooser.sample()
	if err != nil {
		return 0, err
	}
	if len(first) <= maxWarmups {
		for _, t := range first {
			ask = append(ask, t.set)
		}
	}
	if s.job.Warmup != nil {
		ask = slices.Collect(maps.Values(s.chooser.waits))
	}
	slices.Sort(ask)
	make, err := s.job.Worker()
	if err != nil {
		return 0, err
	}
	byDataset := map[uint32][]uint64{}
	for _, set := range slices.Compact(ask) {
		if dataset := s.chooser.dataset[set]; dataset != noDataset {
			byDataset[dataset] = append(byDataset[dataset], set)
		}
	}
	for _, dataset := range slices.Sorted(maps.Keys(byDataset)) {
		var failed error
		at, err := backtest.CommonFrom(func(yield func(*backtest.Plan) bool) {
			for _, set := range byDataset[dataset] {
				p, err := make(s.job.Space.Settings(set))
				if err != nil {
					failed = fmt.Errorf("%s: %w", SettingsText(s.job.Space.Settings(set)), err)
					return
				}
				for _, f := range p.Feeds {
					if length := market.Time(f.Interval.Fixed()); s.candle == 0 || length < s.candle {
						s.candle = length
					}
				}
				if !yield(p) {
					return
				}
			}
		})
		if err = errors.Join(failed, err); err != nil {
			return 0, err
		}
		from = max(from, at)
	}
	return from, nil
}

// Sample are sets of the space: all of a small one, else its corners and others between, as far
// apart as they can be.
func (s *Space) Sample() (sets []uint64) {
	stride := max(s.size/maxWarmups, 1)
	for set := uint64(0); set < s.size; set += stride {
		sets = append(sets, set)
	}
	for corner := range uint64(1) << min(len(s.dims), 12) {
		point := make([]float64, len(s.dims))
		for i := range point {
			point[i] = float64(corner >> i & 1)
		}
		sets = append(sets, s.At(point))
	}
	return sets
}

// sample looks at each set of the space's Sample and returns all, those that are left out too.
func (c *chooser) sample() (sets []uint64, err error) {
	sets = c.space.Sample()
	for _, set := range sets {
		if _, err := c.allowed(set); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// SettingsText writes settings for a person: the last part of each key, unless two share it.
func SettingsText(settings []Setting) string {
	parts := make([]string, len(settings))
	for i, s := range settings {
		parts[i] = shortKey(settings, i) + "=" + s.Value
	}
	return strings.Join(parts, " ")
}

// shortKey is the last part of a key, or the whole where another key ends alike.
func shortKey(settings []Setting, i int) string {
	last := func(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }
	for j := range settings {
		if j != i && last(settings[j].Key) == last(settings[i].Key) {
			return settings[i].Key
		}
	}
	return last(settings[i].Key)
}
