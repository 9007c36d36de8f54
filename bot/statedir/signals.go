package statedir

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// signalsVersion is the version of the blobs about signals.
const signalsVersion = 1

// HeardSource counts what a bot has heard of a source of signals since its state file began.
type HeardSource struct {
	Received int64       `json:"received"`           // that counted
	Refused  int64       `json:"refused,omitempty"`  // for a reason that the journal names
	Repeated int64       `json:"repeated,omitempty"` // that had come before
	Shorts   int64       `json:"shorts,omitempty"`   // that were taken as flat
	Lost     int64       `json:"lost,omitempty"`     // that never came, as the next one showed
	Last     market.Time `json:"last,omitempty"`     // when the latest one came, of whatever kind
}

// AppendHeard appends the saved form that ReadHeard reads.
func AppendHeard(dst []byte, by map[string]HeardSource) ([]byte, error) {
	return market.AppendSaved(dst, signalsVersion, by)
}

// ReadHeard reads what earlier runs have heard, by source.
func ReadHeard(store *journal.Store) (map[string]HeardSource, error) {
	by := map[string]HeardSource{}
	text, err := store.Blob(SignalsBlob)
	if err == nil && text != nil {
		err = market.ParseSaved(text, signalsVersion, &by)
	}
	if err != nil {
		return nil, fmt.Errorf("signals in the state file: %w", err)
	}
	return by, nil
}

// SignalKey is a hash of what a source sends once: of its name and an id, or of a whole signal.
type SignalKey [16]byte

// Blob is the name of the key's blob.
func (k SignalKey) Blob() string { return SignalPrefix + hex.EncodeToString(k[:]) }

// SeenSignal is a signal that counted. Before Until the same counts no more.
type SeenSignal struct {
	Number int64 // of its journal entry
	Until  market.Time
}

// AppendSeen appends the saved form that ReadSeen reads.
func AppendSeen(dst []byte, s SeenSignal) []byte {
	dst = append(dst, signalsVersion)
	return binary.AppendVarint(binary.AppendVarint(dst, s.Number), int64(s.Until))
}

// ReadSeen reads the signals that earlier runs have seen.
func ReadSeen(store *journal.Store) (map[SignalKey]SeenSignal, error) {
	blobs, err := store.Blobs(SignalPrefix)
	if err != nil {
		return nil, fmt.Errorf("signals in the state file: %w", err)
	}
	seen := make(map[SignalKey]SeenSignal, len(blobs))
	for name, body := range blobs {
		var k SignalKey
		if n, err := hex.Decode(k[:], []byte(name)); err != nil || n != len(k) || len(body) == 0 ||
			body[0] != signalsVersion {
			return nil, fmt.Errorf("%w: signal %q in the state file", bolt.ErrCorrupt, name)
		}
		number, n := binary.Varint(body[1:])
		until, m := binary.Varint(body[1+max(0, n):])
		if n <= 0 || m <= 0 || 1+n+m != len(body) {
			return nil, fmt.Errorf("%w: signal %s in the state file", bolt.ErrCorrupt, name)
		}
		seen[k] = SeenSignal{number, market.Time(until)}
	}
	return seen, nil
}
