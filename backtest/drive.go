package backtest

import (
	"context"
	"errors"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/internal/goroutine"
	"github.com/tidemark-trading/tidemark/market"
)

// Watched is a running pass of a plan, as other goroutines may see it.
type Watched struct {
	Callback *engine.Callback // the running callback
	Name     func(market.StrategyID) string
}

// Halted is a strategy that was halted in a run.
type Halted struct {
	engine.Halt
	Stack []byte // of a panic, an ended goroutine, or a foreign use of its desk; nil otherwise
}

// errGoexit is the error where a strategy ended the goroutine of a run although it had one of its
// own.
var errGoexit = errors.New(
	"the run ended its goroutine; a strategy may call runtime.Goexit in its callbacks, but nothing else may")

// drive runs the plan to its end, in its own goroutine. A callback that ends its goroutine
// (runtime.Goexit) ends the run too. Then the plan is run again from the start, with each callback
// in its own goroutine, which costs a microsecond a callback and halts only that strategy.
func drive(ctx context.Context, p *Plan, o runOptions) (d *driver, err error) {
	for {
		if d, err = newDriver(p, o); err == nil {
			err = d.open(o)
		}
		if err != nil {
			return nil, err
		}
		if o.began != nil {
			o.began(d)
		}
		d.watch(o.watch)
		returned := goroutine.Call(func() { err = d.run(ctx) })
		switch {
		case returned:
			return d, err
		case o.apart != nil:
			return nil, errGoexit
		}
		o.apart = goroutine.Call
	}
}

// watch shows the run to a function; nil: to none.
func (d *driver) watch(show func(Watched)) {
	if show != nil {
		show(Watched{Callback: d.engine.Callback(),
			Name: func(id market.StrategyID) string { return d.plan.Strategies[id-1].Name }})
	}
}

// reportHalts calls report for each halted strategy.
func (d *driver) reportHalts(report func(Halted)) {
	if report == nil {
		return
	}
	for _, h := range d.engine.Halts() {
		report(Halted{Halt: h, Stack: d.engine.Stack(h.Strategy)})
	}
}
