package bot

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// agreedBlob is how the account's balances stood beside the books, by asset.
const agreedBlob = "agreed"

// savedAgreement is a live.Agreement in the state file, in units of the asset.
type savedAgreement struct {
	At      market.Time  `json:"at"`
	Surplus market.Money `json:"surplus"`
}

// Agreed keeps how a balance stands beside the books: at once where that is new, otherwise once a minute.
func (j *botJournal) Agreed(asset market.AssetID, a live.Agreement) {
	symbol := j.account.Catalog().Asset(asset).Symbol
	before, known := j.agreed[symbol]
	j.agreed[symbol] = savedAgreement(a)
	if !known || before.Surplus != a.Surplus {
		j.saveAgreed()
	}
}

func (j *botJournal) saveAgreed() {
	text, _ := json.Marshal(j.agreed) // names and numbers
	j.batch.Blob(agreedBlob, text)
}

// Differs notes a difference of the balances.
func (j *botJournal) Differs(at market.Time, d *state.Difference) { j.batch.Journal(at, d) }

// agreements reads what the last run noted, less what has been given to strategies since.
func (r *runner) agreements() (map[market.AssetID]live.Agreement, error) {
	text, err := r.store.Blob(agreedBlob)
	if err != nil || text == nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &r.journal.agreed); err != nil {
		return nil, fmt.Errorf("balances in the state file: %w", err)
	}
	agreed := map[market.AssetID]live.Agreement{}
	for symbol, a := range r.journal.agreed {
		asset := r.plan.catalog.AssetNamed(symbol)
		if asset == nil {
			continue
		}
		if asset.ID == r.plan.currency.ID {
			a.Surplus -= r.given
		}
		agreed[asset.ID] = live.Agreement(a)
	}
	return agreed, nil
}

// owns reports whether an order that has ended was this bot's.
func (r *runner) owns(client uuid.UUID) bool {
	_, err := r.store.OrderByClientID(client)
	return !errors.Is(err, state.ErrNoState)
}
