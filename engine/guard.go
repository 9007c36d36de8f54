package engine

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// given is what the callback under way is given, by its kind. It stands here, not in a closure,
// because a closure that another goroutine may call is an allocation.
type given struct {
	candle *market.Candle
	ticker *market.Ticker
	book   *market.OrderBook
	order  *market.Order
	fills  []market.Fill
	report *market.Report // nil: nothing but fills
	sent   market.Report
	timer  int64
	bare   strategy.Unprotected
}

// guard calls a strategy with what e.given has; a panic halts it and nothing else.
func (e *Engine) guard(s *seat, kind CallbackKind) {
	switch {
	case s.halted:
	case e.apart == nil:
		e.call(s, kind)
	default:
		e.apart(func() {
			e.own()
			e.call(s, kind)
		})
		e.own()
	}
}

// call is guard on the goroutine that it runs on.
func (e *Engine) call(s *seat, kind CallbackKind) {
	defer e.catch()
	e.enter(s, kind)
	s.called = true
	switch kind {
	case CallStart:
		start(s)
	case CallStop:
		stop(s)
	case CallCandle:
		s.Strategy.OnCandle(s.desk, *e.given.candle)
	case CallTicker:
		s.Strategy.OnTicker(s.desk, *e.given.ticker)
	case CallBook:
		s.Strategy.OnBook(s.desk, s.window.Open(e.given.book))
	case CallTimer:
		s.onTimer.OnTimer(s.desk, e.given.timer)
	case CallUnprotected:
		s.onBare.OnUnprotected(s.desk, e.given.bare)
	case CallOrder:
		e.callOrder(s)
	}
	e.after(s)
	e.leave()
}

// callOrder tells of fills, then of what became of the order.
func (e *Engine) callOrder(s *seat) {
	if s.onFill != nil && len(e.given.fills) > 0 {
		e.calls.enter(s.id, CallFill, e.now)
		for i := range e.given.fills {
			s.onFill.OnFill(s.desk, e.given.fills[i])
		}
	}
	if s.onOrder != nil && e.given.report != nil {
		e.calls.enter(s.id, CallOrder, e.now)
		s.onOrder.OnOrder(s.desk, *e.given.order, *e.given.report)
	}
}
