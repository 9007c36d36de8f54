package engine

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/tidemark-trading/tidemark/engine/goroutine"
	"github.com/tidemark-trading/tidemark/market"
)

// admission is who may use a desk: the strategy that is being called, on the goroutine that steps
// the engine.
type admission struct {
	owner      atomic.Uintptr // goroutine.ID of the one that steps the engine
	trespassed atomic.Bool    // some seat has a trespass
}

// trespass is a use of a desk from where it may not be used.
type trespass struct {
	call  string
	stack []byte
}

// Admit reports whether a strategy may use its desk now. From another goroutine it may not, nor
// between callbacks: the strategy is halted when the callback under way returns, or with the next
// step. The desk of another strategy, and Quiet, are told apart by a panic, which halts the one
// that is being called.
func (e *Engine) Admit(id market.StrategyID, call string) bool {
	if uintptr(goroutine.Current()) != e.owner.Load() || e.current == nil {
		e.seats[id-1].trespass.CompareAndSwap(nil, &trespass{call: call, stack: debug.Stack()})
		e.trespassed.Store(true)
		return false
	}
	if s := e.current; s.id != id {
		panic(fmt.Sprintf("Desk.%s of strategy %s was called in a callback of %s", call, e.seats[id-1].Name, s.Name))
	}
	if e.calls.quiet {
		panic(fmt.Sprintf("Desk.%s was called in Quiet, which has no desk; return false, and OnCandle gets the candle",
			call))
	}
	return true
}

// own notes which goroutine steps the engine.
func (e *Engine) own() {
	if g := uintptr(goroutine.Current()); e.owner.Load() != g {
		e.owner.Store(g)
	}
}

// expel halts the strategies whose desks were used from elsewhere. What the one that was being
// called has asked for in this callback is dropped, as after a panic: nobody knows what it was
// told.
func (e *Engine) expel(called *seat) {
	e.trespassed.Store(false)
	for i := range e.seats {
		s := &e.seats[i]
		t := s.trespass.Swap(nil)
		if t == nil {
			continue
		}
		reason := fmt.Sprintf("Desk.%s was called from another goroutine, or between callbacks", t.call)
		s.Log.Error().Str("strategy", s.Name).Bytes("stack", t.stack).Msg(HaltedMessage + ": " + reason)
		if s == called {
			e.dropCallback(s)
		}
		s.stack = t.stack
		e.halt(s, reason)
	}
}
