package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

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

// agreements takes over what the last run noted, less what has been given to strategies since.
func (r *runner) agreements() (map[market.AssetID]live.Agreement, error) {
	noted, err := readAgreed(r.store)
	if err != nil {
		return nil, err
	}
	agreed := map[market.AssetID]live.Agreement{}
	for symbol, a := range noted {
		if symbol == r.plan.Currency.Symbol {
			a.Surplus -= r.given
			noted[symbol] = a
		}
		if asset := r.plan.Catalog.AssetNamed(symbol); asset != nil {
			agreed[asset.ID] = live.Agreement(a)
		}
	}
	r.journal.agreed = noted
	return agreed, nil
}

// amountInfo is an amount of an asset as a program reads it.
type amountInfo struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount"`
	AtMS   int64  `json:"at_ms,omitempty"` // when the balances were last compared
}

// nobodys is what an account has beyond the books, by symbol, as of the last look at its balances.
func nobodys(catalog *market.Catalog, agreed map[string]savedAgreement) (list []amountInfo) {
	for _, symbol := range slices.Sorted(maps.Keys(agreed)) {
		if asset := catalog.AssetNamed(symbol); asset != nil && agreed[symbol].Surplus > 0 {
			list = append(list, amountInfo{symbol, market.FormatFixed(int64(agreed[symbol].Surplus), asset.Digits), agreed[symbol].At.Millis()})
		}
	}
	return list
}

// owns reports whether an order that has ended was this bot's.
func (r *runner) owns(client uuid.UUID) bool {
	_, err := r.store.OrderByClientID(client)
	return !errors.Is(err, state.ErrNoState)
}

// ended is the own order of a client's name as the state file has it, nil where there is none or it cannot be read.
func (r *runner) ended(client uuid.UUID) *state.Order {
	row, err := r.store.OrderByClientID(client)
	if errors.Is(err, state.ErrNoState) {
		return nil
	}
	var fills []state.FillRow
	if err == nil {
		fills, err = r.store.FillsOf(row.ID)
	}
	if err != nil {
		r.log.Error().Err(err).Stringer("client_order_id", client).Msg("an order that the exchange lists as open cannot be read from the state file")
		return nil
	}
	return state.EndedOrder(&row, fills)
}
