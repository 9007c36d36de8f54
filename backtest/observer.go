package backtest

import (
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Observer is called with everything that a run does, in its order: every command that the gate
// lets pass, every fill, every order that has ended. It changes nothing. Its arguments are valid
// until it returns.
type Observer interface {
	engine.Observer
	engine.Approver
	// Ended is called with the account at the end of the run.
	Ended(a *state.Account)
}

// observers are a driver and an Observer.
type observers struct {
	own *driver
	Observer
}

// Filled calls both.
func (w observers) Filled(o *state.Order, f *market.Fill) {
	w.own.Filled(o, f)
	w.Observer.Filled(o, f)
}

// Closed calls both.
func (w observers) Closed(o *state.Order) {
	w.own.Closed(o)
	w.Observer.Closed(o)
}

// Unprotected calls the driver.
func (w observers) Unprotected(u *strategy.Unprotected) { w.own.Unprotected(u) }

// StopMoved calls the driver.
func (w observers) StopMoved(m *strategy.StopMoved) { w.own.StopMoved(m) }

// PartReached calls the driver.
func (w observers) PartReached(p *strategy.PartReached) { w.own.PartReached(p) }

// CloseFailed calls the driver.
func (w observers) CloseFailed(f *strategy.CloseFailed) { w.own.CloseFailed(f) }

// plotter gets what the strategies of a run with files plot.
func (d *driver) plotter(o runOptions) strategy.Plotter {
	if !o.plots {
		return nil
	}
	return d
}

// Plot records a value or a mark at the close of the candle, or at the time of the event. Before
// the range there is no recorder.
func (d *driver) Plot(s market.StrategyID, p strategy.Plotted) {
	if d.recorder != nil && !d.handing {
		d.recorder.plots.add(d.engine.Now()-d.latency, s, p, d.account.Last(p.Market))
	}
}

// observer is the observer of a run's engine.
func (d *driver) observer(w Observer) engine.Observer {
	if w == nil {
		return d
	}
	return observers{own: d, Observer: w}
}
