package live

import (
	"errors"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// ErrLastRoom is wrapped by a Commit that made everything durable in the disk space reserved for
// ending: the loop cancels its orders except the exits of brackets, and then ends.
var ErrLastRoom = errors.New("the disk is full, and the room that was set aside for a stop is in use")

// Journal keeps what must survive the process. A turn of the loop notes what happened and commits
// once; nothing is sent before the commit of its intent has returned. Only the loop's goroutine
// calls it; arguments are valid until the call returns.
type Journal interface {
	// Event notes an event that the engine has folded: a report, fills, a transfer, a market's
	// status, timers that fired, candles that were delivered.
	Event(ev *market.Event)
	// Intent notes a command that is about to be sent.
	Intent(i *exchange.Intent)
	// Sent notes that an intent, durable since the last Commit, is being sent. It may be
	// committed with later notes.
	Sent(at market.Time, i *exchange.Intent)
	// Outcome notes the outcome of an intent: err is nil, the exchange's refusal, or the reason why
	// the outcome is unknown.
	Outcome(at market.Time, i *exchange.Intent, err error)
	// Commit makes everything since the last Commit durable, Findings included, with the present
	// state of engine, gate, account and strategies. With nothing noted it does nothing.
	Commit(at market.Time) error
}

// ReconcileLog records the differences between the account and the exchange. The next Commit of the
// Journal makes them durable. Only the loop's goroutine calls it; arguments are valid until the
// call returns.
type ReconcileLog interface {
	// Note records a note for a person: a difference, a foreign order, a refused key.
	Note(at market.Time, kind, text string)
	// Discrepancy records a difference between the exchange and the account, and its conclusion.
	Discrepancy(at market.Time, d *state.Discrepancy)
	// Breached records a rule that an answer broke. all are the breaches of the last day, to be
	// kept for the next run; nil: none is new.
	Breached(at market.Time, b *Breach, all []Breach)
	// ChangedByOthers records the orders that someone else has changed and that still expect
	// something, in words, to be kept for the next run.
	ChangedByOthers(orders map[market.OrderID]string)
	// Checkpoint records the checkpoint of an asset's balance, for the next run. It may be
	// committed with later records.
	Checkpoint(asset market.AssetID, a BalanceCheckpoint)
}
