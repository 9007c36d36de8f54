package engine

import (
	"fmt"
	"runtime/debug"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// deliverCandles calls the strategies for the candles of one instant, in order. It returns false
// when a strategy panicked and the rest is still to be called.
func (e *Engine) deliverCandles(group []market.Candle) (done bool) {
	defer e.catch()
	place := 0 // number of this call in the group: delivery resumes at e.at
	for i := range group {
		c := &group[i]
		for _, s := range e.receivers(c) {
			if place++; place <= e.at || s.halted || s.past.Hides(c) {
				continue
			}
			e.at = place
			if s.wait.Going() {
				s.wait.Count(c)
			}
			if e.apart != nil {
				e.args.candle = c
				e.guard(s, CallCandle)
				continue
			}
			e.beginCall(s, CallCandle)
			s.called = true
			s.Strategy.OnCandle(s.desk, *c)
			e.after(s)
		}
	}
	e.leave()
	return true
}

// receivers are the strategies that receive a candle; nil for an unknown market or interval.
func (e *Engine) receivers(c *market.Candle) []*strategyState {
	at := int(c.Market)*market.IntervalSlots + int(c.Interval)
	if int(c.Interval) >= market.IntervalSlots || at >= len(e.subs.candles) {
		return nil
	}
	return e.subs.candles[at]
}

// deliver calls the strategies for everything but candles and reports.
func (e *Engine) deliver(ev *market.Event) {
	switch ev.Kind {
	case market.KindTicker:
		if e.brackets.Len() > 0 {
			e.brackets.Price(ev.Ticker.Market, ev.Ticker.Last)
		}
		for !e.deliverTicker(ev.Ticker) {
		}
	case market.KindBook:
		for _, s := range e.subs.books[ev.Book.Market] {
			if s.past.Starting() {
				continue
			}
			if s.wait.Going() {
				s.wait.Release(e.now)
			}
			e.args.book = ev.Book
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
		e.brackets.RulesChanged(ev.Market)
	case market.KindTransfer:
		if ev.Owner != 0 && ev.Market != 0 && ev.Money < 0 {
			e.lose(ev.Owner, ev.Market)
		}
	case market.KindTimer:
		if e.groups.Open() > 0 {
			e.groups.EndDue()
		}
		e.timers.Ring()
	}
}

// lose shrinks or ends the brackets of a strategy whose base has left the books otherwise than by
// its own orders.
func (e *Engine) lose(id market.StrategyID, m market.ID) {
	s, known := &e.slots[id-1], e.catalog.Market(m)
	e.brackets.Lose(id, m, e.account.Position(id, m).Amount, func(b market.OrderID, was, is market.Qty) {
		text := "base has left the books: the exits over it become smaller"
		if is == 0 {
			text = "base has left the books: the exits over it end"
		}
		s.Log.Warn().Str("market", known.Name).Int64("bracket", int64(b)).Str("was", known.FormatQty(was)).
			Str("is", known.FormatQty(is)).Msg(text)
	})
}

// deliverReport passes a report to the order's owner: fills first, then the order's state.
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
	entry := market.OrderID(0)
	if e.tactics.Len() > 0 {
		entry = e.brackets.EntryOf(o.ID) // afterwards, an exit that has sold all belongs to none
	}
	if e.brackets.Len() > 0 || applied.Fresh > 0 && o.Bracket.Any() {
		e.follow(ev, applied)
	}
	if e.replaces.Len()+e.tactics.Len() > 0 {
		e.replaces.Follow(o, ev.Report)
		e.tactics.Follow(o, entry, ev.Fills[:applied.Fresh])
	}
	if s := &e.slots[o.Strategy-1]; s.onFill != nil || s.onOrder != nil {
		e.callWithReport(s, ev, applied)
	}
	if o.CancelWanted && o.InFlight == 0 && !o.State.Terminal() {
		e.sendWanted(o)
	}
	if e.rebalances.Len() > 0 {
		e.rebalances.Follow(o.Strategy)
	}
}

// follow passes a report to the brackets.
//
//go:noinline
func (e *Engine) follow(ev *market.Event, applied state.Applied) {
	o := applied.Order
	e.brackets.Follow(o, ev.Report, ev.Fills[:applied.Fresh], e.account.Position(o.Strategy, o.Market).Amount)
}

// callWithReport passes a report to a strategy.
func (e *Engine) callWithReport(s *strategyState, ev *market.Event, applied state.Applied) {
	e.args.order, e.args.fills, e.args.report = &applied.Order.Order, ev.Fills[:applied.Fresh], ev.Report
	if applied.Late { // of an overtaken report, only the fills are news
		e.args.report = nil
	}
	e.guard(s, CallOrder)
}

// sendWanted sends the cancel that waited for another write. That of a bracket's own swap waited
// until the exit had arrived; that of a tactic, until its order had.
//
//go:noinline
func (e *Engine) sendWanted(o *state.Order) {
	e.sendCancel(o, nil, e.brackets.InPath(o) || e.tactics.Takes(o.ID))
}

// notifySent calls OnOrder for the orders that strategies have just sent, until no callback sends
// another.
func (e *Engine) notifySent() {
	for round := 0; len(e.sent) > 0 || e.brackets.HasReports(); round++ {
		e.notifyUnprotected(round)
		e.notifyCloses(round)
		orders := e.sent
		e.sent = nil
		for _, o := range orders {
			if round == maxRounds {
				e.halt(o.slot, fmt.Sprintf("%d rounds of orders in one step", maxRounds))
				continue
			}
			if o.dropped != nil {
				e.args.order, e.args.fills, e.args.report = &o.dropped.order, nil, &o.dropped.report
				e.guard(o.slot, CallOrder)
				continue
			}
			order := e.account.Order(o.id)
			if order == nil || o.slot.halted {
				continue
			}
			e.args.sent.Describe(order, 0)
			e.args.order, e.args.fills, e.args.report = order, nil, &e.args.sent
			e.guard(o.slot, CallOrder)
		}
		if e.sent == nil {
			e.sent = orders[:0]
		}
	}
}

// notifyUnprotected reports positions that cannot have an exit to the observer and their
// strategies.
func (e *Engine) notifyUnprotected(round int) {
	for _, u := range e.brackets.TakeReports() {
		if e.guardian != nil {
			e.guardian.Unprotected(&u)
		}
		switch s := &e.slots[u.Strategy-1]; {
		case s.onUnprotected == nil || u.Cause == strategy.CauseUnknown: // which the exchange's answer decides
		case round == maxRounds:
			e.halt(s, fmt.Sprintf("%d rounds of orders in one step", maxRounds))
		default:
			e.args.unprotected = u
			e.guard(s, CallUnprotected)
		}
	}
}

// beginCall notes, before a strategy is called, the state to which dropCallback goes back.
func (e *Engine) beginCall(s *strategyState, kind CallbackKind) {
	e.current, e.mark = s, len(e.out)
	e.calls.begin(s.id, kind, e.now)
	e.brackets.Mark()
}

// after checks what a callback did that it may not do.
func (e *Engine) after(s *strategyState) {
	if e.spoil || e.trespassed.Load() {
		e.inspect(s)
	}
}

func (e *Engine) inspect(s *strategyState) {
	if e.spoil {
		strategy.Spoil(s.desk)
	}
	if e.trespassed.Load() {
		e.haltTrespassers(s)
	}
}

// leave notes that no strategy is being called.
func (e *Engine) leave() {
	e.current = nil
	e.brackets.Unmark()
	e.calls.end()
}

// catch recovers from a panic in a strategy: the callback's commands and reservations are dropped
// and the strategy is halted. A panic outside a strategy is a broken invariant of the engine and
// goes on.
func (e *Engine) catch() {
	s := e.current
	if s == nil {
		return
	}
	e.catchUp()
	e.current = nil
	e.calls.end()
	s.stack = debug.Stack()
	log, text := s.Log.Error().Bytes("stack", s.stack), "runtime.Goexit: it ended the goroutine that called it"
	// nil: the strategy called runtime.Goexit, which ends this goroutine after this function
	if reason := recover(); reason != nil {
		log, text = log.Interface("panic", reason), fmt.Sprintf("panic: %v", reason)
	}
	log.Msg(HaltedMessage)
	e.dropCallback(s)
	e.halt(s, text)
}
