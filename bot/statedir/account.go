package statedir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// SameExchange reports whether two addresses may be those of one exchange: an exchange on this
// machine may have another port each time.
func SameExchange(a, b string) bool { return a == b || onThisMachine(a) && onThisMachine(b) }

func onThisMachine(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && address.IsLoopback()
}

// KeyDigest identifies a key without revealing it.
func KeyDigest(key string) string {
	sum := sha256.Sum256([]byte("tidemark account key " + key))
	return hex.EncodeToString(sum[:8])
}

// OtherExchange returns the exchange of a state file; empty: it is the exchange at origin or at
// movedFrom.
func OtherExchange(store *journal.Store, origin, movedFrom string) (before string, err error) {
	known, err := store.Blob(ExchangeBlob)
	before = string(known)
	if err != nil || before == "" || SameExchange(before, origin) || before == config.OriginOf(movedFrom) {
		return "", err
	}
	return before, nil
}

// KeyChanged reports whether a state file was used with another key before.
func KeyChanged(store *journal.Store, key string) (bool, error) {
	known, err := store.Blob(KeyBlob)
	return len(known) > 0 && string(known) != KeyDigest(key), err
}

// changedVersion is the version of the blob of orders that someone else has changed.
const changedVersion = 1

// savedChanged are the orders in the state file that someone else has changed.
type savedChanged struct {
	Orders map[market.OrderID]string `json:"orders"`
}

// AppendChanged appends the saved form that ReadChanged reads.
func AppendChanged(dst []byte, orders map[market.OrderID]string) ([]byte, error) {
	return market.AppendSaved(dst, changedVersion, &savedChanged{orders})
}

// ReadChanged reads the orders that someone else had changed in earlier runs, in words.
func ReadChanged(store *journal.Store) (map[market.OrderID]string, error) {
	text, err := store.Blob(ChangedBlob)
	if err != nil || text == nil {
		return nil, err
	}
	var kept savedChanged
	if err := market.ParseSaved(text, changedVersion, &kept); err != nil {
		return nil, fmt.Errorf("changed orders in the state file: %w", err)
	}
	return kept.Orders, nil
}
