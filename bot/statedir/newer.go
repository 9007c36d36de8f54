package statedir

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// newerVersion is the version of the blob about orders that are newer than the state file.
const newerVersion = 1

// Newer is what starts have kept of orders that are newer than the copy of a restored state file.
type Newer struct {
	// Since and Last are the last entry and the highest order number of the file before a start
	// that has not ended yet, or has failed; 0: the last start knows all newer orders.
	Since market.Time    `json:"since,omitzero"`
	Last  market.OrderID `json:"last,omitzero"`
	// Orders are those in the books that may still fill or are to be cancelled, by their numbers in
	// this file.
	Orders  []market.OrderID `json:"orders,omitempty"`
	Unknown []UnknownExit    `json:"unknown,omitempty"` // purchases whose exits are not known
	Lent    []UnknownExit    `json:"lent,omitempty"`    // base that the purchases are to give back
}

// UnknownExit is a live.UnknownExit in the state file, with the names of strategy and market.
type UnknownExit struct {
	Strategy string      `json:"strategy"`
	Market   string      `json:"market"`
	Amount   string      `json:"amount"`
	Since    market.Time `json:"since,omitzero"`
}

// Append appends the saved form that ReadNewer reads.
func (n *Newer) Append(dst []byte) ([]byte, error) { return market.AppendSaved(dst, newerVersion, n) }

// ReadNewer reads what earlier starts have kept.
func ReadNewer(store *journal.Store) (n Newer, err error) {
	text, err := store.Blob(NewerBlob)
	if err != nil || text == nil {
		return n, err
	}
	if err := market.ParseSaved(text, newerVersion, &n); err != nil {
		return n, fmt.Errorf("newer orders in the state file: %w", err)
	}
	return n, nil
}
