package statedir

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// changedVersion is the version of the blob of orders that someone else has changed.
const changedVersion = 1

// savedChanged are the orders in the state file that someone else has changed.
type savedChanged struct {
	Orders map[market.OrderID]string `json:"orders"`
}

// AppendChanged appends the saved form that ReadChanged reads.
func AppendChanged(dst []byte, orders map[market.OrderID]string) ([]byte, error) {
	return market.AppendSaved(dst, changedVersion, &savedChanged{orders})
}

// ReadChanged reads the orders that someone else had changed in earlier runs, in words.
func ReadChanged(store *journal.Store) (map[market.OrderID]string, error) {
	text, err := store.Blob(ChangedBlob)
	if err != nil || text == nil {
		return nil, err
	}
	var kept savedChanged
	if err := market.ParseSaved(text, changedVersion, &kept); err != nil {
		return nil, fmt.Errorf("changed orders in the state file: %w", err)
	}
	return kept.Orders, nil
}
