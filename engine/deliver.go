package engine

import (
	"fmt"
	"runtime/debug"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// deliverCandles calls the strategies for the candles of one instant, in order. It returns false
// when one of them panicked and the rest has still to be called.
func (e *Engine) deliverCandles(group []market.Candle) (done bool) {
	defer e.catch()
	place := 0 // of this call among those of the group: delivery resumes at e.at
	for i := range group {
		c := &group[i]
		for _, s := range e.receivers(c) {
			if place++; place <= e.at || s.halted {
				continue
			}
			e.at = place
			if s.warming {
				e.warm(s, c)
			}
			if e.apart != nil {
				e.given.candle = c
				e.guard(s, CallCandle)
				continue
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

// receivers are the strategies that a candle is for; of a market or an interval that there is not,
// none.
func (e *Engine) receivers(c *market.Candle) []*seat {
	at := int(c.Market)*intervals + int(c.Interval)
	if int(c.Interval) >= intervals || at >= len(e.candles) {
		return nil
	}
	return e.candles[at]
}

// warm counts a candle towards the end of a strategy's warm-up.
func (e *Engine) warm(s *seat, c *market.Candle) {
	if c.Interval == s.Intervals[0] && s.missing[c.Market] > 0 {
		s.missing[c.Market]--
	}
	e.release(s, e.now-1) // one that closes when trading begins is of before
}

// release ends a strategy's warm-up when it has seen all the candles that it needs and what it sees
// now, of such a time, is of when it may trade.
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
			e.given.ticker = ev.Ticker
			e.guard(s, CallTicker)
		}
	case market.KindBook:
		for _, s := range e.books[ev.Book.Market] {
			if s.warming {
				e.release(s, e.now)
			}
			e.given.book = ev.Book
			e.guard(s, CallBook)
			s.window.Close()
		}
	case market.KindTrade:
		e.brackets.Price(ev.Trade.Market, ev.Trade.Price)
	case market.KindMarketStatus:
		m := e.catalog.Market(ev.Market)
		m.Status = ev.Status
		if ev.Rules != nil {
			m.Rules = ev.Rules.Rules
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
		e.given.order, e.given.fills, e.given.report = &o.Order, ev.Fills[:applied.Fresh], ev.Report
		if applied.Late { // of an overtaken report, only its fills are told
			e.given.report = nil
		}
		e.guard(s, CallOrder)
	}
	if o.CancelWanted && o.InFlight == 0 && !o.State.Terminal() {
		// a swap that had to wait for the exit's arrival is still the bracket's own
		e.sendCancel(o, e.brackets.Swapping(o.ID))
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
			e.given.sent.Describe(o, 0)
			e.given.order, e.given.fills, e.given.report = o, nil, &e.given.sent
			e.guard(n.seat, CallOrder)
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
			e.given.bare = u
			e.guard(s, CallUnprotected)
		}
	}
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
	if e.trespassed.Load() {
		e.expel(s)
	}
}

// leave notes that no strategy is being called.
func (e *Engine) leave() {
	e.current = nil
	e.calls.leave()
}

// catch recovers from a panic in a strategy: the commands and reservations of the callback are
// dropped, the strategy is halted. A panic outside a strategy is a broken invariant of ours and
// goes on.
func (e *Engine) catch() {
	s := e.current
	if s == nil {
		return
	}
	e.leave()
	s.stack = debug.Stack()
	log, text := s.Log.Error().Str("strategy", s.Name).
		Bytes("stack", s.stack), "runtime.Goexit: it ended the goroutine that called it"
	// nil, with a strategy that has not returned: it ends this goroutine, when this is done
	if reason := recover(); reason != nil {
		log, text = log.Interface("panic", reason), fmt.Sprintf("panic: %v", reason)
	}
	log.Msg(HaltedMessage)
	e.dropCallback(s)
	e.halt(s, text)
}

// HaltedMessage begins the message with which an engine logs that it has halted a strategy for its
// mistake; its stack is with it.
const HaltedMessage = "strategy halted"

// halt stops a strategy: it is called no more, its orders are cancelled, but for the exits of its
// brackets, which protect.
func (e *Engine) halt(s *seat, reason string) {
	if s.halted {
		return
	}
	s.halted, e.book.changed = true, true
	e.gate.Halt(s.id)
	e.halts = append(e.halts, Halt{Strategy: s.id, Name: s.Name, At: e.now, Reason: reason})
	e.cancelUnprotected(s)
}

// cancelUnprotected asks for the orders of a strategy to end that neither protect nor sell off what
// it holds. It returns how many there are.
func (e *Engine) cancelUnprotected(s *seat) (count int) {
	for _, o := range e.account.Open(nil, s.id, 0) {
		if !e.brackets.IsExit(o.ID) && !SellsOff(o) {
			e.cancel(o.ID, false)
			count++
		}
	}
	return count
}
