package folder

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// unknownVersion is the version of the blob of purchases whose exits are not known.
const unknownVersion = 1

// UnknownExit is a live.UnknownExit in the state file, with the names of strategy and market.
type UnknownExit struct {
	Strategy string      `json:"strategy"`
	Market   string      `json:"market"`
	Amount   string      `json:"amount"`
	Since    market.Time `json:"since,omitzero"`
}

// AppendUnknown appends the saved form that ReadUnknown reads.
func AppendUnknown(dst []byte, list []UnknownExit) ([]byte, error) {
	return market.AppendSaved(dst, unknownVersion, list)
}

// ReadUnknown reads what was bought after the copy of a restored state file was made, and whose
// exits are not known.
func ReadUnknown(store *journal.Store) (list []UnknownExit, err error) {
	text, err := store.Blob(UnknownBlob)
	if err != nil || text == nil {
		return nil, err
	}
	if err := market.ParseSaved(text, unknownVersion, &list); err != nil {
		return nil, fmt.Errorf("purchases without a known exit in the state file: %w", err)
	}
	return list, nil
}
