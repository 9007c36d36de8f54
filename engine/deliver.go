package engine

import (
	"fmt"
	"runtime/debug"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// deliverCandles calls the strategies for the candles of one instant, in order. It returns false when one of them panicked
// and the rest has still to be called.
func (e *Engine) deliverCandles(group []market.Candle) (done bool) {
	defer e.catch()
	place := 0 // of this call among those of the group: delivery resumes at e.at
	for i := range group {
		c := &group[i]
		for _, s := range e.candles[int(c.Market)*intervals+int(c.Interval)] {
			if place++; place <= e.at || s.halted {
				continue
			}
			e.at = place
			if s.warming {
				e.warm(s, c)
			}
			e.enter(s, CallCandle)
			s.called = true
			s.Strategy.OnCandle(s.desk, *c)
			e.after(s)
		}
	}
	e.leave()
	return true
}

// warm counts a candle towards the end of a strategy's warm-up.
func (e *Engine) warm(s *seat, c *market.Candle) {
	if c.Interval == s.Intervals[0] && s.missing[c.Market] > 0 {
		s.missing[c.Market]--
	}
	e.release(s, e.now-1) // one that closes when trading begins is of before
}

// release ends a strategy's warm-up when it has seen all the candles that it needs and what it sees now, of such a time, is of when it may trade.
func (e *Engine) release(s *seat, of market.Time) {
	for _, m := range s.Markets {
		if s.missing[m] > 0 {
			return
		}
	}
	if of < e.from && !s.warmed {
		return
	}
	e.endWarmUp(s)
}

func (e *Engine) endWarmUp(s *seat) {
	s.warming, s.warmed, e.book.changed = false, true, true
	e.gate.WarmUp(s.id, false)
}

// deliver calls the strategies for everything but candles and reports.
func (e *Engine) deliver(ev *market.Event) {
	switch ev.Kind {
	case market.KindTicker:
		e.brackets.Price(ev.Ticker.Market, ev.Ticker.Last)
		for _, s := range e.tickers[ev.Ticker.Market] {
			if s.warming {
				e.release(s, e.now)
			}
			e.guard(s, CallTicker, func(s *seat) { s.Strategy.OnTicker(s.desk, *ev.Ticker) })
		}
	case market.KindBook:
		for _, s := range e.books[ev.Book.Market] {
			if s.warming {
				e.release(s, e.now)
			}
			e.guard(s, CallBook, func(s *seat) { s.Strategy.OnBook(s.desk, e.window.Open(ev.Book)) })
			e.window.Close()
		}
	case market.KindTrade:
		e.brackets.Price(ev.Trade.Market, ev.Trade.Price)
	case market.KindMarketStatus:
		m := e.catalog.Market(ev.Market)
		m.Status = ev.Status
		if ev.Rules != nil {
			m.TakeRules(ev.Rules)
		}
		e.brackets.Rules(ev.Market)
	case market.KindTimer:
		e.ring()
	}
}

// deliverReport tells the owner of an order what became of it: fills first, then the order's state.
func (e *Engine) deliverReport(ev *market.Event, applied state.Applied) {
	o := applied.Order
	if o == nil {
		return
	}
	for i := range ev.Fills[:applied.Fresh] {
		if e.observer != nil {
			e.observer.Filled(o, &ev.Fills[i])
		}
	}
	if applied.Ended {
		e.gate.Closed(e.account, &o.Order, e.now)
		if e.observer != nil {
			e.observer.Closed(o)
		}
	}
	if e.brackets.Len() > 0 || applied.Fresh > 0 && o.Bracket != (market.Bracket{}) {
		e.brackets.Follow(o, ev.Report, ev.Fills[:applied.Fresh], e.account.Position(o.Strategy, o.Market).Amount)
	}
	s := &e.seats[o.Strategy-1]
	if s.onFill != nil || s.onOrder != nil {
		e.guard(s, CallOrder, func(s *seat) { e.pass(s, o, ev, applied) })
	}
	if o.CancelWanted && o.InFlight == 0 && !o.State.Terminal() {
		e.sendCancel(o, e.brackets.Swapping(o.ID)) // a swap that had to wait for the exit's arrival is still the bracket's own
	}
}

// pass passes a report on to the strategy; of an overtaken one, only its fills.
func (e *Engine) pass(s *seat, o *state.Order, ev *market.Event, applied state.Applied) {
	if s.onFill != nil {
		e.calls.enter(s.id, CallFill, e.now)
		for i := range ev.Fills[:applied.Fresh] {
			s.onFill.OnFill(s.desk, ev.Fills[i])
		}
	}
	if s.onOrder != nil && ev.Report != nil && !applied.Late {
		e.calls.enter(s.id, CallOrder, e.now)
		s.onOrder.OnOrder(s.desk, o.Order, *ev.Report)
	}
}

// tell lets strategies hear of the orders they have just sent, until no callback sends another.
func (e *Engine) tell() {
	for round := 0; len(e.told) > 0 || e.brackets.Fresh(); round++ {
		e.tellUnprotected(round)
		notes := e.told
		e.told = nil
		for _, n := range notes {
			if round == maxRounds {
				e.halt(n.seat, fmt.Sprintf("%d rounds of orders in one step", maxRounds))
				continue
			}
			o := e.account.Order(n.order)
			if o == nil || n.seat.halted {
				continue
			}
			sent := market.ReportOf(o, 0)
			e.guard(n.seat, CallOrder, func(s *seat) { s.onOrder.OnOrder(s.desk, *o, sent) })
		}
		if e.told == nil {
			e.told = notes[:0]
		}
	}
}

// tellUnprotected lets observer and strategies hear of positions that cannot have an exit.
func (e *Engine) tellUnprotected(round int) {
	for _, u := range e.brackets.News() {
		if e.guardian != nil {
			e.guardian.Unprotected(&u)
		}
		switch s := &e.seats[u.Strategy-1]; {
		case s.onBare == nil:
		case round == maxRounds:
			e.halt(s, fmt.Sprintf("%d rounds of orders in one step", maxRounds))
		default:
			e.guard(s, CallUnprotected, func(s *seat) { s.onBare.OnUnprotected(s.desk, u) })
		}
	}
}

// guard calls a strategy; a panic halts it and nothing else.
func (e *Engine) guard(s *seat, kind CallbackKind, call func(*seat)) {
	if s.halted {
		return
	}
	defer e.catch()
	e.enter(s, kind)
	s.called = true
	call(s)
	e.after(s)
	e.leave()
}

// enter notes how things stand before a strategy is called.
func (e *Engine) enter(s *seat, kind CallbackKind) {
	e.current, e.mark = s, len(e.out)
	e.calls.enter(s.id, kind, e.now)
	e.brackets.Mark()
}

// after looks at what a callback has done that it may not.
func (e *Engine) after(s *seat) {
	if e.spoil {
		strategy.Spoil(s.desk)
	}
}

// leave notes that no strategy is being called.
func (e *Engine) leave() {
	e.current = nil
	e.calls.leave()
}

// catch recovers from a panic in a strategy: the commands and reservations of the callback are dropped, the strategy is
// halted. A panic outside a strategy is a broken invariant of ours and goes on.
func (e *Engine) catch() {
	s := e.current
	if s == nil {
		return
	}
	e.leave()
	if reason := recover(); reason != nil {
		s.Log.Error().Str("strategy", s.Name).Interface("panic", reason).Bytes("stack", debug.Stack()).Msg("strategy halted")
		e.dropCallback(s)
		e.halt(s, fmt.Sprintf("panic: %v", reason))
	}
}

// halt stops a strategy: it is called no more, its orders are cancelled, but for the exits of its brackets, which protect.
func (e *Engine) halt(s *seat, reason string) {
	if s.halted {
		return
	}
	s.halted, e.book.changed = true, true
	e.gate.Halt(s.id)
	e.halts = append(e.halts, Halt{Strategy: s.id, Name: s.Name, At: e.now, Reason: reason})
	e.cancelUnprotected(s)
}

// cancelUnprotected asks for the orders of a strategy to end that neither protect nor sell off what it holds. It returns how many there are.
func (e *Engine) cancelUnprotected(s *seat) (count int) {
	for _, o := range e.account.Open(nil, s.id, 0) {
		if !e.brackets.IsExit(o.ID) && !sellsOff(o) {
			e.cancel(o.ID, false)
			count++
		}
	}
	return count
}
