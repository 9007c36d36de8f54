package placebo

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Search is the Procedure of a search: the method, the objective and the requirements of a job. The
// data is searched as by research.Search, with the job's file and its reports; surrogates are
// searched in memory. The job's functions need not be safe for several goroutines.
func Search(job research.Job) Maker {
	own := apart(job)
	return func(workers int, note func(*backtest.Plan) error) (Procedure, error) {
		s, err := research.NewSearcher(own(workers, note))
		return search{s}, err
	}
}

// apart returns the job for one Procedure after another, which may run side by side.
func apart(job research.Job) func(workers int, note func(*backtest.Plan) error) research.Job {
	var mutex sync.Mutex // of the job's functions
	looking := func(look func([]research.Setting) (string, error)) func([]research.Setting) (string, error) {
		if look == nil {
			return nil
		}
		return func(settings []research.Setting) (string, error) {
			mutex.Lock()
			defer mutex.Unlock()
			return look(settings)
		}
	}
	job.Look, job.Warmup = looking(job.Look), looking(job.Warmup)
	return func(workers int, note func(*backtest.Plan) error) research.Job {
		own := job
		own.Workers = workers
		own.Worker = func() (research.Make, error) {
			mutex.Lock()
			defer mutex.Unlock()
			make, err := job.Worker()
			if err != nil || note == nil {
				return make, err
			}
			return noting(make, note), nil
		}
		return own
	}
}

// noting is a Make that shows its plans.
func noting(make research.Make, note func(*backtest.Plan) error) research.Make {
	return func(settings []research.Setting) (*backtest.Plan, error) {
		p, err := make(settings)
		if err == nil {
			err = note(p)
		}
		return p, err
	}
}

// search is the Procedure of a search.
type search struct{ *research.Searcher }

// Run searches.
func (s search) Run(ctx context.Context, alter func(*backtest.Plan)) (Chosen, error) {
	var f *research.Found
	var err error
	if alter == nil {
		f, err = s.Searcher.Run(ctx)
	} else {
		f, err = s.Winner(ctx, alter)
	}
	if err != nil {
		return Chosen{}, err
	}
	c, err := chosen(f)
	return c, errors.Join(err, f.Close())
}

// chosen is how a search ended.
func chosen(f *research.Found) (Chosen, error) {
	c := Chosen{Theta: math.Inf(-1), Sharpe: math.NaN(), Tries: len(f.Tries), Reads: f.From, From: f.From, To: f.To,
		Days: f.Days}
	if f.Winner == nil {
		return c, nil
	}
	row := make([]float64, f.Winner.Days())
	if err := f.Excess(f.Winner, row); err != nil {
		return Chosen{}, err
	}
	c.Theta, c.Settings = stats.Annual(stats.Sharpe(row)), f.Winner.Settings
	if err := f.Returns(f.Winner, row); err != nil {
		return Chosen{}, err
	}
	c.Sharpe = stats.Annual(stats.Sharpe(row))
	return c, nil
}
