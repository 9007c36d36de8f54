package statedir

import (
	"encoding/json"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// BalanceCheckpoint is a live.BalanceCheckpoint in the state file, in units of the asset.
type BalanceCheckpoint struct {
	At      market.Time  `json:"at"`
	Surplus market.Money `json:"surplus"`
}

// ReadCheckpoints reads the balance checkpoints of the last run, by symbol.
func ReadCheckpoints(store *journal.Store) (map[string]BalanceCheckpoint, error) {
	list := map[string]BalanceCheckpoint{}
	text, err := store.Blob(AgreedBlob)
	if err != nil || text == nil {
		return list, err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("balances in the state file: %w", err)
	}
	return list, nil
}
