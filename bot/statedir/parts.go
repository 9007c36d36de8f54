package statedir

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/market"
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

// newerVersion is the version of the blob about orders that are newer than the state file.
const newerVersion = 1

// Newer is what starts have kept of orders that are newer than the copy of a restored state file.
type Newer struct {
	// Runs are runs before the last one of which the file may lack orders, the latest first: they
	// did not end in it.
	Runs []live.Run `json:"runs,omitempty"`
	// Since is when the last entry before a start was made that has not ended yet, or has failed.
	// 0: the last start knows all newer orders that the exchange has shown.
	Since market.Time `json:"since,omitzero"`
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

// breachesVersion is the version of the blob of breaches.
const breachesVersion = 1

// savedBreaches are the answers in the state file that broke a rule.
type savedBreaches struct {
	Breaches []live.Breach `json:"breaches"`
}

// AppendBreaches appends the saved form that ReadBreaches reads.
func AppendBreaches(dst []byte, all []live.Breach) ([]byte, error) {
	return market.AppendSaved(dst, breachesVersion, &savedBreaches{all})
}

// ReadBreaches reads the breaches of the last run.
func ReadBreaches(store *journal.Store) ([]live.Breach, error) {
	text, err := store.Blob(BreachesBlob)
	if err != nil || text == nil {
		return nil, err
	}
	var kept savedBreaches
	if err := market.ParseSaved(text, breachesVersion, &kept); err != nil {
		return nil, fmt.Errorf("breaches in the state file: %w", err)
	}
	return kept.Breaches, nil
}

// nextVersion is the first byte of RecordingBlob.
const nextVersion = 1

// AppendNextRecord appends the content of RecordingBlob: the number of the next record, as of the
// commit that writes it.
func AppendNextRecord(dst []byte, next uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, nextVersion), next)
}

// NextRecord reads RecordingBlob. It returns 0 where nothing was recorded.
func NextRecord(blob []byte) (next uint64) {
	if len(blob) == 9 && blob[0] == nextVersion {
		return binary.BigEndian.Uint64(blob[1:])
	}
	return 0
}
