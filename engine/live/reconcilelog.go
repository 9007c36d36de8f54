package live

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// ReconcileLog records the differences between the account and the exchange. The next Commit of the
// Journal makes them durable. Only the loop's goroutine calls it; arguments are valid until the
// call returns.
type ReconcileLog interface {
	// Note records a note for a person: a difference, a foreign order, a refused key.
	Note(kind, text string)
	// Discrepancy records a difference between the exchange and the account, and its conclusion.
	Discrepancy(at market.Time, d *state.Discrepancy)
	// Breached records a rule that an answer broke. all are the breaches of the last day, to be
	// kept for the next run; nil: none is new.
	Breached(at market.Time, b *Breach, all []Breach)
	// ChangedByOthers records the orders that someone else has changed and that still expect
	// something, in words, to be kept for the next run.
	ChangedByOthers(orders map[market.OrderID]string)
	// Checkpoints records the checkpoint of an asset's balance, for the next run. It may be
	// committed with later records.
	Checkpoint(asset market.AssetID, a BalanceCheckpoint)
}
