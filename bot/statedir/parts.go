package statedir

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Parts reads the engine's parts that the last process saved, by name. resumed is false if there
// are none.
func Parts(store *journal.Store) (parts map[string][]byte, resumed bool, err error) {
	if parts, err = store.Blobs(PartPrefix); err != nil {
		return nil, false, fmt.Errorf("state of the last run: %w", err)
	}
	return parts, parts[engine.PartAccount] != nil, nil
}

// Prices returns an account with the saved prices of a state file and nothing else.
func Prices(store *journal.Store) (*state.Account, error) {
	account := state.NewAccount(store.Catalog(), 0, nil)
	text, err := store.Blob(PartPrefix + engine.PartPrices)
	if err != nil || text == nil {
		return account, err
	}
	if err := account.RestorePrices(text); err != nil {
		return nil, fmt.Errorf("prices in the state file: %w", err)
	}
	return account, nil
}

// Held lists the markets, by strategy, in which the last run has left base, orders or a tactic.
func Held(store *journal.Store) (map[string][]string, error) {
	parts, resumed, err := Parts(store)
	if err != nil || !resumed {
		return nil, err
	}
	held, err := engine.SavedMarkets(parts)
	if err != nil {
		return nil, fmt.Errorf("state of the last run: %w", err)
	}
	return held, nil
}
