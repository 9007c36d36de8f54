package engine

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// arguments are the arguments of the current callback, by its kind. They are not in a closure,
// because a closure that another goroutine may call allocates.
type arguments struct {
	candle      *market.Candle
	ticker      *market.Ticker
	book        *market.OrderBook
	order       *market.Order
	fills       []market.Fill
	report      *market.Report // nil: only fills
	sent        market.Report
	timer       int64
	unprotected strategy.Unprotected
	closeFailed strategy.CloseFailed
	group       strategy.Group
	signal      *market.Signal
}

// guard calls a strategy with e.args; a panic halts that strategy alone.
func (e *Engine) guard(s *strategyState, kind CallbackKind) {
	switch {
	case s.halted:
	case e.apart == nil:
		e.call(s, kind)
	default:
		e.apart(func() {
			e.setOwner()
			e.call(s, kind)
		})
		e.setOwner()
	}
}

// call is guard on its own goroutine.
func (e *Engine) call(s *strategyState, kind CallbackKind) {
	defer e.catch()
	e.beginCall(s, kind)
	s.called = true
	switch kind {
	case CallStart:
		start(s)
	case CallStop:
		stop(s)
	case CallCandle:
		s.Strategy.OnCandle(s.desk, *e.args.candle)
	case CallTicker:
		s.Strategy.OnTicker(s.desk, *e.args.ticker)
	case CallBook:
		s.Strategy.OnBook(s.desk, s.window.Open(e.args.book))
	case CallTimer:
		s.onTimer.OnTimer(s.desk, e.args.timer)
	case CallUnprotected:
		s.onUnprotected.OnUnprotected(s.desk, e.args.unprotected)
	case CallCloseFailed:
		s.onCloseFailed.OnCloseFailed(s.desk, e.args.closeFailed)
	case CallCandles:
		s.onCandles.OnCandles(s.desk, e.args.group)
	case CallSignal:
		s.onSignal.OnSignal(s.desk, *e.args.signal)
	case CallOrder:
		e.callOrder(s)
	}
	e.after(s)
	e.leave()
}

// callOrder reports fills, then the order's state.
func (e *Engine) callOrder(s *strategyState) {
	if s.onFill != nil && len(e.args.fills) > 0 {
		e.calls.begin(s.id, CallFill, e.now)
		for i := range e.args.fills {
			s.onFill.OnFill(s.desk, e.args.fills[i])
		}
	}
	if s.onOrder != nil && e.args.report != nil {
		e.calls.begin(s.id, CallOrder, e.now)
		s.onOrder.OnOrder(s.desk, *e.args.order, *e.args.report)
	}
}
