package engine

import "github.com/tidemark-trading/tidemark/market"

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
	CallSkip
	CallUnprotected
	CallCandles
	CallCloseFailed
	CallSignal
	callbacks
)

var callbackNames = [callbacks]string{"", "OnStart", "OnStop", "OnCandle", "OnTicker", "OnBook", "OnOrder", "OnFill",
	"OnTimer", "Save", "Load", "Skip", "OnUnprotected", "OnCandles",
	"OnCloseFailed", "OnSignal"}

// String returns the name of the method.
func (k CallbackKind) String() string {
	if k < callbacks {
		return callbackNames[k]
	}
	return "callback"
}

// Callback shows which strategy method the engine is in, if any. The engine updates it at both ends
// of a callback and keeps no time: a reader in another goroutine notes when it first sees a Call.
// Stores are plain stores of aligned words (cell_plain.go): an atomic store for each candle would
// cost more than a quiet candle does.
type Callback struct {
	shown  cell   // call number, strategy, kind; 0: no callback
	at     cell   // the engine's time of the call
	number uint64 // of calls so far; only the engine's goroutine uses it
	skips  bool   // the call is of Skip; only the engine's goroutine uses it
}

// Call is one call of a strategy.
type Call struct {
	Number   uint64 // rises with each call, or with each row of quiet candles
	Strategy market.StrategyID
	Kind     CallbackKind
	At       market.Time // the engine's time: the event's arrival; of a row, the present candle's; in Skip, the first's
}

// The parts of Callback.shown.
const (
	callKindBits     = 8
	callStrategyBits = 8
)

// Now returns the current call; false: the engine is in no callback. Any goroutine may call it. A
// read at the moment when a call begins may mix two calls: only a call that two reads show alike is
// still running.
func (c *Callback) Now() (Call, bool) {
	word := uint64(c.shown.get())
	call := Call{
		Number:   word >> (callKindBits + callStrategyBits),
		Strategy: market.StrategyID(word >> callKindBits & (1<<callStrategyBits - 1)),
		Kind:     CallbackKind(word & (1<<callKindBits - 1)),
		At:       market.Time(c.at.get()),
	}
	return call, word != 0
}

// begin shows that a strategy is being called.
func (c *Callback) begin(id market.StrategyID, kind CallbackKind, at market.Time) {
	c.number++
	c.skips = false
	c.at.set(int64(at))
	c.shown.set(int64(c.number<<(callKindBits+callStrategyBits) | uint64(id)<<callKindBits | uint64(kind)))
}

// end shows that the strategy has returned.
func (c *Callback) end() { c.shown.set(0) }

// Callback returns the place where the engine shows its current call.
func (e *Engine) Callback() *Callback { return &e.calls }
