package placebo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Procedure is the tested search: all that leads from candles to a chosen set.
type Procedure interface {
	// Run runs the procedure. alter changes each plan before it runs, such as its Open; nil: this
	// is the data, and the only call with nil. Several goroutines call alter if the procedure has
	// several workers.
	Run(ctx context.Context, alter func(*backtest.Plan)) (Chosen, error)
}

// Maker makes a Procedure for one goroutine that has so many workers. note is called with each plan
// that the procedure looks at, before it runs the first one; nil: not called. Its error ends the
// procedure. A Maker is called by one goroutine at a time.
type Maker func(workers int, note func(*backtest.Plan) error) (Procedure, error)

// Chosen is how a Procedure ended.
type Chosen struct {
	Settings []research.Setting // of the winner; nil: nothing was found, or there is not one winner
	// Theta is the annual Sharpe ratio of the winner in excess of a hold at its own mean exposure;
	// minus infinity: nothing was found.
	Theta  float64
	Sharpe float64     // the same against cash
	Tries  int         // sets of a search
	Reads  market.Time // the first instant at which a plan of the procedure traded
	From   market.Time // the winner's returns
	To     market.Time
	Days   int // daily returns
}

// Test is a placebo test.
type Test struct {
	Rules
	Surrogates int // 0: 199; at least 19
	Procedure  Maker
	Workers    int // how many surrogates run side by side; 0: one a core. The number changes no result

	// File is where the results are kept, one for each surrogate. A test that was killed goes on
	// from there, also with more Surrogates. A * in its name is replaced by eight characters of a
	// hash of the identity.
	File     string
	Identity Identity               // Run fills in the Rules
	Data     func() (string, error) // a hash of the candles, once the procedure is made; nil: Identity has it

	Began    func(Start)    // called once, when the procedure has run on the data; nil: not called
	Progress func(Progress) // called after each surrogate; nil: not called
}

// Start describes a test whose procedure has run on the data.
type Start struct {
	Chosen     Chosen // on the data
	Candles    int    // of the finest intervals, in each surrogate
	Surrogates int
	Done       int    // of those, in the file from an earlier start
	Torn       string // what was wrong with the end of the file; empty: nothing
}

// Progress is how far a test has come.
type Progress struct {
	Done, Surrogates int
	Better           int // of the done: at least as good as the data
}

// The numbers of surrogates.
const (
	usualSurrogates = 199
	leastSurrogates = 19 // fewer never show a p of 0.05
)

// ErrFew means that a test has too few surrogates.
var ErrFew = errors.New("want at least 19: fewer never show a p of 0.05")

// ErrNothing means that there is no winner to rank.
var ErrNothing = errors.New("the search found nothing in the data: no set has a value of the objective and meets the " +
	"requirements")

// Check returns an error if the numbers of a test make no sense.
func (t *Test) Check() error {
	if t.Surrogates != 0 && t.Surrogates < leastSurrogates {
		return fmt.Errorf("%d surrogates: %w", t.Surrogates, ErrFew)
	}
	_, err := NewData(t.Rules)
	return err
}

// Run runs the procedure on the data and on the surrogates, and ranks the data's winner. The
// outcome depends on the Test without its Workers alone. The error of a cancelled ctx leaves the
// file as it is: the same Run goes on from there. It wraps ErrFew, ErrKeep, ErrNothing,
// research.ErrBusy, or an error of the procedure, where that is the reason.
func Run(ctx context.Context, test Test) (*Result, error) {
	if err := test.Check(); err != nil {
		return nil, err
	}
	test.Surrogates = cmp.Or(test.Surrogates, usualSurrogates)
	if test.Workers <= 0 {
		test.Workers = runtime.GOMAXPROCS(0)
	}
	data, err := NewData(test.Rules)
	if err != nil {
		return nil, err
	}
	procedure, err := test.Procedure(test.Workers, data.Note)
	if err != nil {
		return nil, err
	}
	if err := data.fits(); err != nil {
		return nil, err
	}
	if test.Data != nil {
		if test.Identity.Data, err = test.Data(); err != nil {
			return nil, err
		}
	}
	test.Identity.Rules, test.Identity.Version = test.Rules, fileVersion
	r := &run{Test: test, data: data}
	r.File = strings.ReplaceAll(test.File, "*", r.Identity.hash()[:8])
	if r.file, err = openFile(r.File, &r.Identity); err != nil {
		return nil, err
	}
	err = r.run(ctx, procedure)
	if err = errors.Join(err, r.file.Close()); err != nil {
		return nil, err
	}
	return r.outcome(), nil
}

// run is a running Test.
type run struct {
	Test
	data   *Data
	file   *file
	real   Chosen
	thetas []float64 // of the surrogates whose turn has come
	better int
}

func (r *run) run(ctx context.Context, procedure Procedure) (err error) {
	if r.real, err = procedure.Run(ctx, nil); err != nil {
		return err
	}
	if math.IsInf(r.real.Theta, -1) {
		return ErrNothing
	}
	if err := r.data.Read(r.real.Reads); err != nil {
		return err
	}
	for _, theta := range r.file.thetas[:min(len(r.file.thetas), r.Surrogates)] {
		r.add(theta)
	}
	if r.Began != nil {
		r.Began(Start{Chosen: r.real, Candles: r.data.Candles(), Surrogates: r.Surrogates, Done: len(r.thetas),
			Torn: r.file.torn})
	}
	return r.all(ctx)
}

// add takes the result of the next surrogate.
func (r *run) add(theta float64) {
	r.thetas = append(r.thetas, theta)
	if stats.PValue(r.real.Theta, []float64{theta}) == 1 { // ties count against the data
		r.better++
	}
}

// done is the result of one surrogate.
type done struct {
	number int // from 1
	theta  float64
	err    error
}

// all runs the surrogates that the file does not have, and writes the results in their order.
func (r *run) all(ctx context.Context) error {
	first := len(r.thetas)
	workers := min(r.Workers, r.Surrogates-first)
	procedures := make([]Procedure, workers)
	for i := range procedures {
		var err error
		if procedures[i], err = r.Procedure(1, nil); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	todo, ended := make(chan int, r.Surrogates-first), make(chan done, workers)
	for number := first + 1; number <= r.Surrogates; number++ {
		todo <- number
	}
	close(todo)
	var running sync.WaitGroup
	for _, p := range procedures {
		running.Go(func() { r.work(ctx, p, todo, ended) })
	}
	defer running.Wait()
	defer cancel()
	for waiting := map[int]done{}; len(r.thetas) < r.Surrogates; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case d := <-ended:
			waiting[d.number] = d
		}
		if err := r.keep(ctx, waiting); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps the results whose turn it is. An error ends the test at its turn, so that it is always
// the same one.
func (r *run) keep(ctx context.Context, waiting map[int]done) error {
	for {
		d, ready := waiting[len(r.thetas)+1]
		if !ready {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if d.err != nil {
			return fmt.Errorf("surrogate %d: %w", d.number, d.err)
		}
		if err := r.file.append(d.number, d.theta); err != nil {
			return err
		}
		delete(waiting, d.number)
		r.add(d.theta)
		if r.Progress != nil {
			r.Progress(Progress{Done: len(r.thetas), Surrogates: r.Surrogates, Better: r.better})
		}
	}
}

// work runs surrogates until there are no more.
func (r *run) work(ctx context.Context, p Procedure, todo <-chan int, ended chan<- done) {
	var s *Surrogate
	for number := range todo {
		s = r.data.Surrogate(number, s)
		chosen, err := p.Run(ctx, s.Alter)
		select {
		case ended <- done{number, chosen.Theta, err}:
		case <-ctx.Done():
			return
		}
	}
}
