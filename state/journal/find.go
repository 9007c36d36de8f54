package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

const (
	minPrefix = 4 // hexadecimal digits of an id that FindOrder needs
	maxNamed  = 5 // orders that an error about an ambiguous prefix names
)

// FindOrder returns the order that a person names: by its number, its clientOrderId or its orderId,
// or by the first digits of one of these ids, at least four, that no other order has. If two
// markets have the same orderId, which is practically impossible, it returns the first order.
func (s *Store) FindOrder(text string) (row OrderRow, err error) {
	number, notNumber := strconv.ParseInt(text, 10, 64)
	if notNumber == nil {
		if row, err = s.Order(market.OrderID(number)); err == nil || !errors.Is(err, bolt.ErrNotFound) {
			return row, err
		}
	}
	p, ok := parsePrefix(text)
	if !ok && notNumber == nil {
		return row, err
	}
	if !ok {
		return row, fmt.Errorf("order %q is neither a number nor a UUID, nor the first %d digits or more of one",
			text[:min(len(text), 64)], minPrefix)
	}
	err = s.db.View(func(tx *bbolt.Tx) error {
		keys := p.matches(tx)
		switch {
		case len(keys) == 0:
			return fmt.Errorf("order %s: %w in %s", text, bolt.ErrNotFound, s.path)
		case len(keys) > 1 && len(p) < 32:
			return fmt.Errorf("order %s: %s begin with that; write more of it", text, namedOrders(keys))
		}
		row, err = s.orderAt(tx, keys[0], text)
		return err
	})
	return row, err
}

// namedOrders lists orders by number.
func namedOrders(keys [][]byte) string {
	var names []string
	for _, key := range keys[:min(maxNamed, len(keys))] {
		names = append(names, strconv.FormatInt(int64(orderOfKey(key)), 10))
	}
	text := "orders " + strings.Join(names, ", ")
	if len(keys) > maxNamed {
		text += " and others"
	}
	return text
}

// prefix is the beginning of an id: lower-case hexadecimal digits.
type prefix string

// parsePrefix reads the beginning of a UUID, with its dashes or without.
func parsePrefix(text string) (prefix, bool) {
	if id, err := uuid.Parse(text); err == nil {
		return prefix(hex.EncodeToString(id[:])), true
	}
	digits := strings.ToLower(strings.ReplaceAll(text, "-", ""))
	if len(digits) < minPrefix || len(digits) > 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", false
	}
	return prefix(digits), true
}

// first is the least id that begins with the prefix.
func (p prefix) first() []byte {
	id, _ := hex.DecodeString(string(p) + strings.Repeat("0", 32-len(p)))
	return id
}

// of reports whether an id begins with the prefix.
func (p prefix) of(id []byte) bool {
	return len(id) >= 16 && strings.HasPrefix(hex.EncodeToString(id[:16]), string(p))
}

// matches returns the keys of the orders with an id that begins with the prefix, each once, and at
// most maxNamed+1.
func (p prefix) matches(tx *bbolt.Tx) (keys [][]byte) {
	rows := tx.Bucket(bucketOrders)
	add := func(key []byte) bool {
		if rows.Get(part(key, partRow, nil)) == nil {
			return true // Trim has removed the order
		}
		if !slices.ContainsFunc(keys, func(known []byte) bool { return bytes.Equal(known, key) }) {
			keys = append(keys, bytes.Clone(key))
		}
		return len(keys) <= maxNamed
	}
	clientIDsOf(tx).withPrefix(p, add)
	cursor := bolt.NewCursor(tx.Bucket(bucketExchangeIDs))
	for key, order := cursor.Seek(p.first()); p.of(key) && len(keys) <= maxNamed; key, order = cursor.Next() {
		add(order)
	}
	return keys
}

// withPrefix visits the orders whose client order id begins with a prefix until visit returns
// false.
func (c clientIDs) withPrefix(p prefix, visit func(order []byte) bool) {
	cursor := bolt.NewCursor(c.lists)
	for key, list := cursor.First(); key != nil; key, list = cursor.Next() {
		n, least := len(list)/idEntry, p.first()
		at := sort.Search(n, func(i int) bool { return bytes.Compare(list[i*idEntry:i*idEntry+16], least) >= 0 })
		for ; at < n && p.of(list[at*idEntry:]); at++ {
			if !visit(list[at*idEntry+16 : (at+1)*idEntry]) {
				return
			}
		}
	}
	c.recent(func(key, row []byte) bool {
		id := clientIDOf(row)
		return !p.of(id[:]) || visit(key[:8])
	})
}
