package engine

import (
	"sync/atomic"

	"github.com/tidemark-trading/tidemark/market"
)

// Callback names a method of a strategy.
type Callback uint8

// The callbacks. Of Quiet the time is the candle's; of the others that of the event.
const (
	OnCandle Callback = iota + 1
	Quiet
	OnTicker
	OnBook
	OnOrder
	OnFill
	OnTimer
	OnStart
	OnStop
	Save
	Load
)

var callbacks = [...]string{"", "OnCandle", "Quiet", "OnTicker", "OnBook", "OnOrder", "OnFill", "OnTimer", "OnStart", "OnStop", "Save", "Load"}

// String returns the method's name.
func (c Callback) String() string {
	if int(c) < len(callbacks) {
		return callbacks[c]
	}
	return "callback"
}

// Calling says which strategy is in which callback at this moment. The engine's goroutine writes it; a watchdog on another one
// reads it with Now and compares what it reads now with what it read a second ago: the same Call means that the callback has
// not returned. The engine has no clock of its own.
//
// A write is a plain store (cell_plain.go): it costs a candle less than a nanosecond. The words are aligned, so that a reader
// sees one of the values that were written; under the race detector the stores are atomic ones.
type Calling struct {
	what   cell // the number of the call, the callback, the strategy
	at     cell // the engine's time of the call
	number int64
}

// Call is a callback under way.
type Call struct {
	Number   int64 // of the engine's calls so far; two calls of Quiet may share it, with another At
	Strategy market.StrategyID
	Callback Callback
	At       market.Time // of the event, or of the candle's close for Quiet and OnCandle
}

// set notes a call; strategy 0: none.
func (c *Calling) set(s market.StrategyID, callback Callback) {
	c.number++
	c.what.set(c.number<<16 | int64(callback)<<8 | int64(s))
}

// Now returns the callback that is under way, if one is. It may be called from any goroutine. What changes while it is read
// may come out mixed: only what is the same twice is to be believed.
func (c *Calling) Now() (call Call, is bool) {
	what := c.what.get()
	call = Call{Number: what >> 16, Strategy: market.StrategyID(what), Callback: Callback(what >> 8), At: market.Time(c.at.get())}
	return call, call.Strategy != 0
}

// Calling returns the cell that says which strategy is being called. It is the engine's own and stays the same.
func (e *Engine) Calling() *Calling { return &e.calling }

// get reads a cell from any goroutine.
func (c *cell) get() int64 { return atomic.LoadInt64((*int64)(c)) }
