package live

import (
	"errors"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// ErrLastRoom is wrapped by a Commit that has made everything durable, in room that is left for
// ending alone: the loop ends its orders but for the exits of brackets, and then itself.
var ErrLastRoom = errors.New("the disk is full, and the room that was set aside for a stop is in use")

// Journal keeps what must survive the process. A turn of the loop notes what happened and commits
// once; nothing is sent before the commit that holds its intent has returned. It is called by the
// loop's goroutine alone; what it is given is valid until the call returns.
type Journal interface {
	// Event notes an event that the engine has folded: a report, fills, a transfer, a market's
	// status, timers that rang, candles that were delivered.
	Event(ev *market.Event)
	// Intent notes a command that is about to be sent.
	Intent(i *exchange.Intent)
	// Sent notes that an intent, durable since the last Commit, is being sent. It may be committed
	// with what is noted next.
	Sent(at market.Time, i *exchange.Intent)
	// Outcome notes what became of an intent: err is nil, the exchange's refusal, or why it is
	// unknown.
	Outcome(at market.Time, i *exchange.Intent, err error)
	// Commit makes all since the last Commit durable, Findings included, with the state of engine,
	// gate, account and strategies as they are now. Where nothing was noted it does nothing.
	Commit(at market.Time) error
}
