package engine

import (
	"sync/atomic"

	"github.com/tidemark-trading/tidemark/market"
)

// CallbackKind is a method of a strategy that the engine calls.
type CallbackKind uint8

// The callbacks of a strategy.
const (
	CallStart CallbackKind = iota + 1
	CallStop
	CallCandle
	CallTicker
	CallBook
	CallOrder
	CallFill
	CallTimer
	CallSave
	CallLoad
	callbacks
)

var callbackNames = [callbacks]string{"", "OnStart", "OnStop", "OnCandle", "OnTicker", "OnBook", "OnOrder", "OnFill", "OnTimer", "Save", "Load"}

// String returns the name of the method.
func (k CallbackKind) String() string {
	if k < callbacks {
		return callbackNames[k]
	}
	return "callback"
}

// Callback is the callback that an engine is in, or that it is in none. The engine shows it with an atomic store at each end
// of a callback and keeps no time: a reader in another goroutine notes when it first sees a Number.
type Callback struct {
	shown  atomic.Uint64 // number of the call, strategy, kind; 0: the engine is in no callback
	number uint64        // of calls so far; the engine's goroutine alone uses it
}

// Call is one call of a strategy.
type Call struct {
	Number   uint64 // rises with each call; of a strategy that takes in a row of quiet candles, with each row
	Strategy market.StrategyID
	Kind     CallbackKind
}

// The parts of Callback.shown.
const (
	callKindBits     = 8
	callStrategyBits = 8
)

// Now returns the call under way. false: the engine is in no callback. Any goroutine may ask.
func (c *Callback) Now() (Call, bool) {
	word := c.shown.Load()
	call := Call{
		Number:   word >> (callKindBits + callStrategyBits),
		Strategy: market.StrategyID(word >> callKindBits & (1<<callStrategyBits - 1)),
		Kind:     CallbackKind(word & (1<<callKindBits - 1)),
	}
	return call, word != 0
}

// enter shows that a strategy is being called.
func (c *Callback) enter(id market.StrategyID, kind CallbackKind) {
	c.number++
	c.shown.Store(c.number<<(callKindBits+callStrategyBits) | uint64(id)<<callKindBits | uint64(kind))
}

// leave shows that it has returned.
func (c *Callback) leave() { c.shown.Store(0) }

// Callback returns where the engine shows which strategy it is calling.
func (e *Engine) Callback() *Callback { return &e.calls }
