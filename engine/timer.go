package engine

import (
	"github.com/tidemark-trading/tidemark/market"
)

// NextTimer returns the earliest time that a strategy asked for, at which a bracket retries an
// exit, a tactic goes on, the wait for a group of candles ends, or a strategy starts. The caller
// steps the engine with a KindTimer event at that time, or at the next event where that is later.
func (e *Engine) NextTimer() (at market.Time, ok bool) {
	if e.timers.Len()+e.brackets.Len()+e.groups.Open()+e.tactics.Len()+e.histories.Waiting() == 0 {
		return 0, false
	}
	if e.brackets.Len() > 0 {
		at, ok = e.brackets.Due()
	}
	if due, waits := e.timers.Due(); waits && (!ok || due < at) {
		at, ok = due, true
	}
	if due, waits := e.groups.Due(); waits && (!ok || due < at) {
		at, ok = due, true
	}
	if e.histories.Waiting() > 0 {
		if due, waits := e.histories.Due(); waits && (!ok || due < at) {
			at, ok = due, true
		}
	}
	if e.tactics.Len() > 0 {
		if due, waits := e.tactics.Due(); waits && (!ok || due < at) {
			at, ok = due, true
		}
	}
	return at, ok
}

// TimerDue reports whether a timer is due.
func (e *Engine) TimerDue() bool {
	at, waiting := e.NextTimer()
	return waiting && at <= e.now
}

// watchTactics notes what tactics wait for in the path of a backtest's candles.
func (e *Engine) watchTactics() {
	timer := market.Time(0)
	if at, waits := e.NextTimer(); waits {
		timer = max(1, at)
	}
	watches := e.brackets.Watches()
	e.tactics.Watch(watches, timer)
	if w := &watches[0]; e.awaited != 0 && (w.Timer == 0 || e.awaited < w.Timer) {
		w.Timer = e.awaited
	}
}

// Await lets a path that stops at the engine's timers stop at a time too, where the caller has an
// input of its own; 0: at none.
func (e *Engine) Await(at market.Time) {
	if e.awaited != at {
		e.awaited = at
		e.watchTactics()
	}
}
