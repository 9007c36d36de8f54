package stress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// Make makes the plan that is stressed, each time anew. The plans of one Make are run by one
// goroutine.
type Make func() (*backtest.Plan, error)

// Job says what is stressed, and how.
type Job struct {
	// Worker is called once for each goroutine that runs plans. Their plans are the same.
	Worker  func() (Make, error)
	Workers int // how many; 0: one a core. The number changes no result
	Seed    uint64
	About   backtest.About // of the plain run

	Resamples int     // of the record; 0: 1000
	Loss      float64 // a part of the equity at the beginning; 0: 0.2
	Within    int     // days in which it is lost; 0: 90
	Drawdown  float64 // a deeper one counts as broken, as a part; 0: none does

	Delays   []market.Duration // of signals, each a level; none: five from 1 s to 30 min
	Measured []market.Duration // delays of signals that were seen: one level draws among them

	Watch    func(backtest.Watched) // called before the first callback of the plain run; nil: not called
	Began    func(Start)            // called once, when the plain run has ended; nil: not called
	Progress func(done, runs int)   // called as runs end; nil: not called
}

// Start describes a stress whose plain run has ended.
type Start struct {
	Plain *backtest.Result
	Runs  int // to come
	Days  int // daily returns of the record
	// Workers is how many groups of runs work side by side.
	Workers int
}

// LeastDays is the smallest number of daily returns that is stressed.
const LeastDays = 30

// The errors of a run that cannot be stressed.
var (
	ErrNoFills  = errors.New("the run has no fill: there is nothing to stress")
	ErrTooShort = errors.New("the range is too short")
	ErrDiffers  = errors.New(
		"two runs of the same plan ended differently: the strategy depends on more than its candles")
)

// Run stresses a plan. The outcome depends on the plan and the Job without its Workers alone. The
// error of a cancelled ctx is ctx's; it wraps ErrNoFills, ErrTooShort, ErrDiffers or
// backtest.ErrNoCandles where that is the reason.
func Run(ctx context.Context, job Job) (*Result, error) {
	job.Workers = cmp.Or(max(job.Workers, 0), runtime.GOMAXPROCS(0))
	job.Resamples, job.Loss, job.Within = cmp.Or(job.Resamples, 1000), cmp.Or(job.Loss, 0.2), cmp.Or(job.Within, 90)
	s := &stressed{job: job}
	if err := s.plain(ctx); err != nil {
		return nil, err
	}
	if err := s.addCases(); err != nil {
		return nil, err
	}
	if job.Began != nil {
		job.Began(Start{Plain: s.result, Runs: len(s.cases), Days: len(s.returns), Workers: job.Workers})
	}
	record, err := s.record()
	if err != nil {
		return nil, err
	}
	if err := s.runCases(ctx); err != nil {
		return nil, err
	}
	return s.outcome(record)
}

// stressed is a plan under stress.
type stressed struct {
	job     Job
	make    Make // of the first worker
	plan    *backtest.Plan
	result  *backtest.Result // of the plain run
	returns []float64
	entries []entry // positions that ended, the best first
	signals []int   // places of the signals in the run, in those of the plan
	cases   []oneCase
	missing [kinds]string // why a kind has no case
}

// plain runs the plan as it is.
func (s *stressed) plain(ctx context.Context) (err error) {
	if s.make, err = s.job.Worker(); err != nil {
		return err
	}
	if s.plan, err = s.make(); err != nil {
		return err
	}
	w := &witness{}
	if s.result, err = backtest.Run(ctx, s.plan, backtest.Options{Keep: true, Observer: w, Watch: s.job.Watch,
		About: s.job.About}); err != nil {
		return err
	}
	together, err := backtest.RunTogether(ctx, []*backtest.Plan{s.plan}, backtest.LockstepOptions{})
	if err == nil {
		err = together[0].Err
	}
	if err != nil {
		return err
	}
	s.returns = together[0].Track.Returns
	switch {
	case s.result.Orders.Fills == 0:
		return ErrNoFills
	case len(s.returns) < LeastDays:
		return fmt.Errorf("%w: a stress needs %d daily returns; this one has %d, from %s to %s", ErrTooShort, LeastDays,
			len(s.returns), s.result.From, s.result.To)
	}
	s.entries = w.entries(s.plan, s.result.Trades)
	s.signals = signalsOf(s.plan, market.Time(s.result.From))
	return nil
}

// figuresOf takes the figures of a run.
func figuresOf(r *backtest.Result) Figures {
	p := &r.Performance
	return Figures{Return: p.Return, Sharpe: p.Sharpe, Drawdown: p.Drawdown.Depth, Final: p.Final, Trips: r.Trips.Count}
}

// drive is the feed that moves a market; nil: there is none.
func drive(p *backtest.Plan, m market.ID) *backtest.Feed {
	for i := range p.Feeds {
		if f := &p.Feeds[i]; f.Market.ID == m && f.Drive {
			return f
		}
	}
	return nil
}
