package bot

import (
	"encoding/json"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// savedAgreement is a live.Agreement in the state file, in units of the asset.
type savedAgreement struct {
	At      market.Time  `json:"at"`
	Surplus market.Money `json:"surplus"`
}

// readAgreed reads what the last run noted, by symbol.
func readAgreed(store *state.BotStore) (map[string]savedAgreement, error) {
	agreed := map[string]savedAgreement{}
	text, err := store.Blob(agreedBlob)
	if err != nil || text == nil {
		return agreed, err
	}
	if err := json.Unmarshal(text, &agreed); err != nil {
		return nil, fmt.Errorf("balances in the state file: %w", err)
	}
	return agreed, nil
}
