package bot

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// stoppedPositions lists what the strategies of a state file hold, each figure with its time: prices as they were last saved, positions as their
// last fill left them.
func stoppedPositions(store *journal.Store) (*positionsInfo, error) {
	prices, err := savedPrices(store)
	if err != nil {
		return nil, err
	}
	list, err := positionsOf(store, prices.Last)
	if err != nil {
		return nil, err
	}
	if list.AsOfMS, err = lastEntryMS(store); err != nil {
		return nil, err
	}
	for i := range list.Positions {
		p := &list.Positions[i]
		if at, _ := prices.Seen(store.Catalog().MarketNamed(p.Market).ID); p.Last != "" {
			p.LastMS = at.Millis()
		}
	}
	return list, list.stampChanges(store)
}

// savedPrices is an account that knows the prices of a state file and nothing else.
func savedPrices(store *journal.Store) (*state.Account, error) {
	account := state.NewAccount(store.Catalog(), 0, nil)
	text, err := store.Blob(partPrefix + engine.PartPrices)
	if err != nil || text == nil {
		return account, err
	}
	if err := account.RestorePrices(text); err != nil {
		return nil, fmt.Errorf("prices in the state file: %w", err)
	}
	return account, nil
}

// stampChanges finds the last fill of each position.
func (list *positionsInfo) stampChanges(store *journal.Store) error {
	unknown := map[[2]string]*positionInfo{}
	for i := range list.Positions {
		p := &list.Positions[i]
		unknown[[2]string{p.Strategy, p.Market}] = p
	}
	return store.FillsBack(func(f *journal.FillRow) (more bool) {
		key := [2]string{f.StrategyName, store.Catalog().Market(f.Market).Name}
		if p := unknown[key]; p != nil {
			p.ChangedMS = f.Time.Millis()
			delete(unknown, key)
		}
		return len(unknown) > 0
	})
}

// lastEntryMS is the time of the journal's last entry: what the file knows is as of then. 0: it has none.
func lastEntryMS(store *journal.Store) (int64, error) {
	entries, err := store.LastEntries(1)
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	return entries[0].At.Millis(), nil
}

// saidAt is a time behind a figure of a stopped bot; "" where there is none.
func saidAt(ms int64) string {
	if ms == 0 {
		return ""
	}
	return ", as of " + clockOf(ms)
}
