package engine

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// SetTimer asks for an OnTimer. Timers of one time fire in the order in which they were set. A
// strategy whose timers each set another for now is halted after maxRounds of them: otherwise time
// would never advance.
func (e *Engine) SetTimer(id market.StrategyID, at market.Time, name int64) {
	if !e.replaying {
		e.timers.Add(id, at, name)
	}
}

// Ring calls OnTimer of a strategy, if it has one.
func (e core) Ring(id market.StrategyID, name int64) {
	if s := &e.slots[id-1]; s.onTimer != nil {
		e.args.timer = name
		e.guard(s, CallTimer)
	}
}

// Overran halts a strategy whose timers set one another for now without end.
func (e core) Overran(id market.StrategyID, rounds int) {
	e.halt(&e.slots[id-1], fmt.Sprintf("%d timers in a row, each set for now by the one before", rounds))
}

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
