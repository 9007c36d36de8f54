package engine

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/internal/goroutine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// admission decides whether a strategy may use its desk: only the strategy being called, on the
// goroutine that steps the engine.
type admission struct {
	owner      atomic.Uintptr // goroutine.ID of the goroutine that steps the engine
	trespassed atomic.Bool    // some slot has a trespass
}

// misuse is a forbidden use of a desk: from another goroutine or between callbacks.
type misuse struct {
	call  string
	stack []byte
}

// Admit reports whether a strategy may use its desk now. It may not from another goroutine, nor
// between callbacks: then the strategy is halted when the current callback returns, or with the
// next step. A call of another strategy's desk, or of a desk in Skip, panics, which halts the
// strategy being called.
func (e asks) Admit(id market.StrategyID, call string) bool {
	if e.owns() { // else e.current is another goroutine's
		if s := e.current; s != nil && s.id == id && !e.calls.skips {
			e.catchUp()
			return true
		}
	}
	return e.refuseDesk(id, call)
}

// refuseDesk is Admit where the desk may not be used.
//
//go:noinline
func (e asks) refuseDesk(id market.StrategyID, call string) bool {
	if !e.owns() || e.current == nil {
		e.slots[id-1].trespass.CompareAndSwap(nil, &misuse{call: call, stack: debug.Stack()})
		e.trespassed.Store(true)
		return false
	}
	if s := e.current; s.id != id {
		panic(fmt.Sprintf("Desk.%s of strategy %s was called in a callback of %s", call, e.slots[id-1].Name, s.Name))
	}
	panic(fmt.Sprintf("Desk.%s was called in Skip, which has no desk; stop before the candle, and OnCandle gets it",
		call))
}

// Plotter gets what strategies plot; nil: Config.Plots is not set.
func (e asks) Plotter() strategy.Plotter {
	if e.plotter == nil {
		return nil
	}
	return e
}

// Plot passes a plot on if it comes from the strategy's own callback, and drops it otherwise.
func (e asks) Plot(id market.StrategyID, p strategy.Plotted) {
	if e.owns() && e.current != nil && e.current.id == id && !e.calls.skips {
		e.catchUp()
		e.plotter.Plot(id, p)
	}
}

// owns reports whether the caller's goroutine steps the engine.
func (a *admission) owns() bool { return uintptr(goroutine.Current()) == a.owner.Load() }

// setOwner notes which goroutine steps the engine.
func (a *admission) setOwner() {
	if !a.owns() {
		a.owner.Store(uintptr(goroutine.Current()))
	}
}

// haltTrespassers halts the strategies whose desks were used where they may not be. The commands
// that the called strategy asked for in this callback are dropped, as after a panic: some of its
// asks were refused without a reason.
func (e *Engine) haltTrespassers(called *strategyState) {
	e.trespassed.Store(false)
	for i := range e.slots {
		s := &e.slots[i]
		t := s.trespass.Swap(nil)
		if t == nil {
			continue
		}
		reason := fmt.Sprintf("Desk.%s was called from another goroutine, or between callbacks", t.call)
		s.Log.Error().Bytes("stack", t.stack).Msg(HaltedMessage + ": " + reason)
		if s == called {
			e.dropCallback(s)
		}
		s.stack = t.stack
		e.halt(s, reason)
	}
}

// stamp puts the engine's time into a line of a strategy's log. On a goroutine of the strategy's
// own it is that of the latest callback.
func (e *Engine) stamp(line *zerolog.Event, _ zerolog.Level, _ string) {
	at := e.calls.at.get()
	if e.owns() {
		e.catchUp()
		at = int64(e.now)
	}
	line.Stringer("at", market.Time(at))
}
