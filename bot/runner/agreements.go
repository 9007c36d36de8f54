package runner

import (
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Checkpoint keeps how a balance stands beside the books: at once where that is new, or follows a
// difference that was explained, which the next run is not to explain again; otherwise once a
// minute.
func (j *botJournal) Checkpoint(asset market.AssetID, a live.BalanceCheckpoint) {
	symbol := j.account.Catalog().Asset(asset).Symbol
	before, known := j.agreed[symbol]
	j.agreed[symbol] = statedir.BalanceCheckpoint(a)
	if !known || before.Surplus != a.Surplus || j.explained {
		j.explained = false
		j.saveAgreed()
	}
}

func (j *botJournal) saveAgreed() {
	text, _ := json.Marshal(j.agreed) // names and numbers
	j.batch.Blob(statedir.AgreedBlob, text)
}

// Discrepancy journals a difference of the balances.
func (j *botJournal) Discrepancy(at market.Time, d *state.Discrepancy) {
	j.explained = true
	j.batch.Journal(at, &journal.Difference{Discrepancy: *d})
}

// agreements loads the balance checkpoints of the last run, less the money given to strategies
// since.
func (r *runner) agreements() (map[market.AssetID]live.BalanceCheckpoint, error) {
	noted, err := statedir.ReadCheckpoints(r.store)
	if err != nil {
		return nil, err
	}
	agreed := map[market.AssetID]live.BalanceCheckpoint{}
	for symbol, a := range noted {
		if symbol == r.plan.Currency.Symbol {
			a.Surplus -= r.funds.given
			noted[symbol] = a
		}
		if asset := r.plan.Catalog.AssetNamed(symbol); asset != nil {
			agreed[asset.ID] = live.BalanceCheckpoint(a)
		}
	}
	r.journal.agreed = noted
	return agreed, nil
}

// owns reports whether an order that has ended is in the state file.
func (r *runner) owns(client uuid.UUID) bool {
	_, err := r.store.OrderByClientID(client)
	return !errors.Is(err, bolt.ErrNotFound)
}

// ended is an own order from the state file, by client order id; nil where there is none or it
// cannot be read.
func (r *runner) ended(client uuid.UUID) *state.Order {
	row, err := r.store.OrderByClientID(client)
	if errors.Is(err, bolt.ErrNotFound) {
		return nil
	}
	var fills []journal.FillRow
	if err == nil {
		fills, err = r.store.FillsOf(row.ID)
	}
	if err != nil {
		r.log.Error().Err(err).Stringer("client_order_id", client).
			Msg("an order that the exchange lists as open cannot be read from the state file")
		return nil
	}
	return row.Ended(fills)
}
