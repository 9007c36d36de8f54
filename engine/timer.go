package engine

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

type timer struct {
	at    market.Time
	slot  *slot
	name  int64
	chain int // number of timers before it that each set the next for now
}

// soon is how far ahead a timer still counts as due now.
const soon = market.Time(time.Millisecond)

// SetTimer asks for an OnTimer. Timers of one time fire in the order in which they were set. A
// strategy whose timers each set another for now is halted after maxRounds of them: otherwise time
// would never advance.
func (e *Engine) SetTimer(id market.StrategyID, at market.Time, name int64) {
	if e.replaying {
		return
	}
	e.saves.changed = true
	t := timer{at: at, slot: &e.slots[id-1], name: name}
	if e.firing != nil && e.firing.slot == t.slot && at < e.now+soon {
		if t.chain = e.firing.chain + 1; t.chain > maxRounds {
			t.slot.overrun = true
			return
		}
	}
	place := len(e.timers)
	for place > 0 && e.timers[place-1].at > at {
		place--
	}
	e.timers = append(e.timers, timer{})
	copy(e.timers[place+1:], e.timers[place:])
	e.timers[place] = t
}

// NextTimer returns the earliest time that a strategy asked for, at which a bracket retries an
// exit, a tactic goes on, the wait for a group of candles ends, or a strategy starts. The caller
// steps the engine with a KindTimer event at that time, or at the next event where that is later.
func (e *Engine) NextTimer() (at market.Time, ok bool) {
	if len(e.timers)+e.brackets.Len()+e.groups.Open()+e.tactics.Len()+e.starting == 0 {
		return 0, false
	}
	if e.brackets.Len() > 0 {
		at, ok = e.brackets.Due()
	}
	if len(e.timers) > 0 && (!ok || e.timers[0].at < at) {
		at, ok = e.timers[0].at, true
	}
	if due, waits := e.groups.Due(); waits && (!ok || due < at) {
		at, ok = due, true
	}
	if e.starting > 0 {
		if due, waits := e.nextStart(); waits && (!ok || due < at) {
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

// fireTimers ends the groups whose wait is over, and calls the strategies whose timers are due. A
// timer set by one of these calls fires with the next event.
func (e *Engine) fireTimers() {
	if e.groups.Open() > 0 {
		e.groups.EndDue()
	}
	due := 0
	for due < len(e.timers) && e.timers[due].at <= e.now {
		due++
	}
	e.saves.changed = e.saves.changed || due > 0
	ringing := append([]timer(nil), e.timers[:due]...)
	e.timers = append(e.timers[:0], e.timers[due:]...)
	for i := range ringing {
		t := &ringing[i]
		if t.slot.onTimer == nil {
			continue
		}
		e.firing = t
		e.args.timer = t.name
		e.guard(t.slot, CallTimer)
		e.firing = nil
		if t.slot.overrun {
			t.slot.overrun = false
			e.halt(t.slot, fmt.Sprintf("%d timers in a row, each set for now by the one before", maxRounds))
		}
	}
}
