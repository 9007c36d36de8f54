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
	CallQuiet
	CallUnprotected
	callbacks
)

var callbackNames = [callbacks]string{"", "OnStart", "OnStop", "OnCandle", "OnTicker", "OnBook", "OnOrder", "OnFill",
	"OnTimer", "Save", "Load", "Quiet", "OnUnprotected"}

// String returns the name of the method.
func (k CallbackKind) String() string {
	if k < callbacks {
		return callbackNames[k]
	}
	return "callback"
}

// Callback is the callback that an engine is in, or that it is in none. The engine shows it at each
// end of a callback and keeps no time: a reader in another goroutine notes when it first sees a
// Call. The stores are plain ones of aligned words (cell_plain.go): an atomic store for each candle
// would cost more than a quiet candle does.
type Callback struct {
	shown  cell   // number of the call, strategy, kind; 0: the engine is in no callback
	at     cell   // the engine's time of the call
	number uint64 // of calls so far; the engine's goroutine alone uses it
	quiet  bool   // the same: the call is of Quiet
}

// Call is one call of a strategy.
type Call struct {
	Number   uint64 // rises with each call; of Quiet, with each row of candles
	Strategy market.StrategyID
	Kind     CallbackKind
	At       market.Time // the engine's time: the event's arrival, of Quiet that of the candle at hand
}

// The parts of Callback.shown.
const (
	callKindBits     = 8
	callStrategyBits = 8
)

// Now returns the call under way. false: the engine is in no callback. Any goroutine may ask. What
// is read while a call begins may be mixed of two: a call that is read twice alike has not
// returned.
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

// enter shows that a strategy is being called.
func (c *Callback) enter(id market.StrategyID, kind CallbackKind, at market.Time) {
	c.number++
	c.quiet = false
	c.at.set(int64(at))
	c.shown.set(int64(c.number<<(callKindBits+callStrategyBits) | uint64(id)<<callKindBits | uint64(kind)))
}

// leave shows that it has returned.
func (c *Callback) leave() { c.shown.set(0) }

// Callback returns where the engine shows which strategy it is calling.
func (e *Engine) Callback() *Callback { return &e.calls }
