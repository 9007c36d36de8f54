package backtest

import (
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Observer hears everything that a run does, in its order: every command that the gate lets pass,
// every fill, every order that has ended. It changes nothing. What it is given is valid until it
// returns.
type Observer interface {
	engine.Observer
	engine.Approver
	// Ended is told of the account as the run leaves it.
	Ended(a *state.Account)
}

// observers is a driver's own observing and a witness's.
type observers struct {
	own *driver
	Observer
}

// Filled tells both.
func (w observers) Filled(o *state.Order, f *market.Fill) {
	w.own.Filled(o, f)
	w.Observer.Filled(o, f)
}

// Closed tells both.
func (w observers) Closed(o *state.Order) {
	w.own.Closed(o)
	w.Observer.Closed(o)
}

// Unprotected tells the driver.
func (w observers) Unprotected(u *strategy.Unprotected) { w.own.Unprotected(u) }

// observer is who the engine of a run tells.
func (d *driver) observer(w Observer) engine.Observer {
	if w == nil {
		return d
	}
	return observers{own: d, Observer: w}
}
