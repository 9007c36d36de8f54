package live

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Findings keep what the loop found where it held its books against the exchange. The next Commit
// of the Journal makes them durable. They are called by the loop's goroutine alone; what they are
// given is valid until the call returns.
type Findings interface {
	// Remark notes something that a person will want to know: a difference, a foreign order, a key
	// that was refused.
	Remark(kind, text string)
	// Differs notes a difference between the exchange's balances and the books, and what was made
	// of it.
	Differs(at market.Time, d *state.Discrepancy)
	// Breached notes a rule that an answer did not keep. all are those of the last day, to be kept
	// for the next run; nil: none is new.
	Breached(at market.Time, b *Breach, all []Breach)
	// Agreed notes how the balance of an asset stands beside the books, for the next run. It may be
	// committed with what is noted next.
	Agreed(asset market.AssetID, a Agreement)
}
