package backtest

import (
	"context"
	"errors"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/goroutine"
	"github.com/tidemark-trading/tidemark/market"
)

// Watched is a pass through a plan as it can be seen from another goroutine.
type Watched struct {
	Callback *engine.Callback // which strategy is in which callback
	Name     func(market.StrategyID) string
}

// Halted is a strategy that was halted in a run.
type Halted struct {
	engine.Halt
	Stack []byte // where it was when it panicked, ended its goroutine, or used its desk from elsewhere; nil otherwise
}

// errGoexit means that a strategy ended the goroutine of a run although it was called on one of its
// own.
var errGoexit = errors.New(
	"the run ended its goroutine; a strategy may call runtime.Goexit in its callbacks, but nothing else may")

// drive runs the plan to its end, on a goroutine of its own. A callback that ends its goroutine
// (runtime.Goexit) takes the run along: no caller can go on then. The plan is run again from the
// start, with each callback on a goroutine of its own, which costs a microsecond a callback and
// halts that strategy alone.
func drive(ctx context.Context, p *Plan, o runOptions) (d *driver, err error) {
	for {
		if d, err = newDriver(p, o); err != nil {
			return nil, err
		}
		if o.began != nil {
			o.began(d)
		}
		if o.watch != nil {
			o.watch(Watched{Callback: d.engine.Callback(),
				Name: func(id market.StrategyID) string { return p.Strategies[id-1].Name }})
		}
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

// reportHalts tells of each strategy that was halted.
func (d *driver) reportHalts(told func(Halted)) {
	if told == nil {
		return
	}
	for _, h := range d.engine.Halts() {
		told(Halted{Halt: h, Stack: d.engine.Stack(h.Strategy)})
	}
}
