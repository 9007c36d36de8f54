package engine

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// timer is a time that a strategy asked for.
type timer struct {
	at   market.Time
	seat *seat
	name int64
	row  int // how many before it, each set for now while the one before rang
}

// soon is how far ahead a timer counts as one for now.
const soon = market.Time(time.Millisecond)

// SetTimer asks for an OnTimer; timers of one time ring in the order in which they were set. A
// strategy whose timers each set one for now, again and again, is halted when maxRounds have
// followed one another: time would never go on.
func (e *Engine) SetTimer(id market.StrategyID, at market.Time, name int64) {
	if e.recalling {
		return
	}
	e.book.changed = true
	t := timer{at: at, seat: &e.seats[id-1], name: name}
	if e.ringing != nil && e.ringing.seat == t.seat && at < e.now+soon {
		if t.row = e.ringing.row + 1; t.row > maxRounds {
			t.seat.overrun = true
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

// NextTimer returns the earliest time that a strategy asked for, or at which a bracket tries to
// place an exit again. Whoever drives the engine steps it with a KindTimer event at that time, or
// at the next event where that is later.
func (e *Engine) NextTimer() (at market.Time, ok bool) {
	if len(e.timers) == 0 && e.brackets.Len() == 0 {
		return 0, false
	}
	if e.brackets.Len() > 0 {
		at, ok = e.brackets.Due()
	}
	if len(e.timers) > 0 && (!ok || e.timers[0].at < at) {
		return e.timers[0].at, true
	}
	return at, ok
}

// Ringing reports whether a timer's time has come.
func (e *Engine) Ringing() bool {
	at, waiting := e.NextTimer()
	return waiting && at <= e.now
}

// ring calls the strategies whose time has come. A timer set by one of these calls rings with the
// next event.
func (e *Engine) ring() {
	due := 0
	for due < len(e.timers) && e.timers[due].at <= e.now {
		due++
	}
	e.book.changed = e.book.changed || due > 0
	ringing := append([]timer(nil), e.timers[:due]...)
	e.timers = append(e.timers[:0], e.timers[due:]...)
	for i := range ringing {
		t := &ringing[i]
		if t.seat.onTimer == nil {
			continue
		}
		e.ringing = t
		e.given.timer = t.name
		e.guard(t.seat, CallTimer)
		e.ringing = nil
		if t.seat.overrun {
			t.seat.overrun = false
			e.halt(t.seat, fmt.Sprintf("%d timers in a row, each set for now by the one before", maxRounds))
		}
	}
}
