package killswitch

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// HoldingsFile is the name of the holdings in a state folder.
const HoldingsFile = "holdings.json"

// holdingsVersion is the version of Holdings.
const holdingsVersion = 1

// Holdings are the positions of a bot's strategies. The bot writes it beside its state file, for a
// switch that cannot read that. Amounts are decimals of the base asset.
type Holdings struct {
	Version   int             `json:"version"`
	AtMS      int64           `json:"at_ms"` // on the exchange's clock: the amounts include fills up to here
	Exchange  string          `json:"exchange"`
	Mode      string          `json:"mode"`
	Run       uuid.UUID       `json:"run"`        // the client order ids of the current run derive from it
	LastOrder int64           `json:"last_order"` // the highest order number so far
	Positions []Position      `json:"positions"`
	Orders    []HeldOrder     `json:"orders"` // own orders that are open, or lack a fill
	Sum       json.RawMessage `json:"sum,omitempty"`
}

// Position is a strategy's amount in a market.
type Position struct {
	Strategy string `json:"strategy"`
	Market   string `json:"market"`
	Amount   string `json:"amount"`
	OpenedMS int64  `json:"opened_ms,omitempty"` // when the strategy began to hold it
}

// HeldOrder is an own order that still expects something.
type HeldOrder struct {
	Client   uuid.UUID `json:"client_order_id"`
	Order    uuid.UUID `json:"order_id,omitzero"`
	Strategy string    `json:"strategy"`
	Market   string    `json:"market"`
	Side     string    `json:"side"`
	Filled   string    `json:"filled"`              // the part that is in the positions
	SentMS   int64     `json:"sent_ms,omitempty"`   // of a place without an answer: when it was decided …
	WindowMS int64     `json:"window_ms,omitempty"` // … and how long after that the exchange takes it
}

// Write replaces the holdings of a folder, durably and atomically. Only the owner may read the
// file.
func (h *Holdings) Write(folder string) error {
	text, err := h.encode()
	if err != nil {
		return err
	}
	path := filepath.Join(folder, HoldingsFile)
	err = osfile.Replace(path, func(file *os.File) error {
		_, err := file.Write(text)
		return errors.Join(err, file.Sync())
	})
	if err == nil {
		err = syncFolder(folder)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// encode writes the holdings with their version and a checksum.
func (h *Holdings) encode() ([]byte, error) {
	whole := *h
	whole.Version, whole.Sum = holdingsVersion, nil
	text, err := json.MarshalIndent(&whole, "", "  ")
	if err != nil {
		return nil, err
	}
	whole.Sum = fmt.Appendf(nil, "%q", fmt.Sprintf("%08x", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))))
	text, err = json.MarshalIndent(&whole, "", "  ")
	return append(text, '\n'), err
}

// ReadHoldings reads the holdings of a folder; nil where it has none.
func ReadHoldings(folder string) (*Holdings, error) {
	path := filepath.Join(folder, HoldingsFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	h, err := decodeHoldings(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; move it away and type markets and amounts yourself", path, err)
	}
	return h, nil
}

func decodeHoldings(text []byte) (*Holdings, error) {
	h := &Holdings{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	if h.Version != holdingsVersion {
		return nil, fmt.Errorf("its version is %d, and this program reads %d", h.Version, holdingsVersion)
	}
	sum := h.Sum
	if again, err := h.encode(); err != nil || string(again) != string(text) {
		return nil, fmt.Errorf("it is damaged, or was changed by hand: its checksum %s does not fit", sum)
	}
	return h, nil
}
