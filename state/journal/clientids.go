package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// The index of client order ids. The ids are practically random: in a tree of single keys every
// new order would write a page of its own, and the cost of a commit is its number of pages. So the
// index consists of sorted lists: every listOrders orders become one list, and joinLists short
// lists become one long list. Orders after the last list are found by reading their rows. The key
// of a list is its last order; its row is entries of id and order, sorted by id.
const (
	listOrders = 512
	joinLists  = 64
	idEntry    = 16 + 8
)

// clientIDs finds orders by client order id. An id consists of the run's id and the order's number,
// so it is never used twice; Check verifies this.
type clientIDs struct {
	lists, table *bbolt.Bucket
}

func clientIDsOf(tx *bbolt.Tx) clientIDs {
	return clientIDs{tx.Bucket(bucketClientIDs), tx.Bucket(bucketOrders)}
}

// lastListed returns the key of the last order that is in a list.
func (c clientIDs) lastListed() []byte {
	if last, _ := bolt.NewCursor(c.lists).Last(); len(last) >= 8 {
		return last[:8]
	}
	return make([]byte, 8)
}

// recent visits the rows after the last list, by order, until visit returns false.
func (c clientIDs) recent(visit func(key, row []byte) bool) {
	cursor := bolt.NewCursor(c.table)
	next := binary.BigEndian.Uint64(c.lastListed()) + 1
	for key, row := cursor.Seek(key64(next)); len(key) >= 8 && next != 0; key, row = cursor.Seek(key64(next)) {
		if isRow(key) && !visit(key, row) {
			return
		}
		next = binary.BigEndian.Uint64(key) + 1 // 0 after the highest number
	}
}

// get returns the key of the order with an id, or nil.
func (c clientIDs) get(id uuid.UUID) (order []byte) {
	cursor := bolt.NewCursor(c.lists)
	for key, list := cursor.First(); key != nil; key, list = cursor.Next() {
		n := len(list) / idEntry // the checksum behind them is shorter than an entry
		at := sort.Search(n, func(i int) bool { return bytes.Compare(list[i*idEntry:i*idEntry+16], id[:]) >= 0 })
		if at < n && bytes.HasPrefix(list[at*idEntry:], id[:]) {
			return list[at*idEntry+16 : (at+1)*idEntry]
		}
	}
	c.recent(func(key, row []byte) bool {
		if clientIDOf(row) == id {
			order = key[:8]
		}
		return order == nil
	})
	return order
}

// claim checks that an order keeps the id in its stored row. A new order, without a row, whose
// number lies within the lists, up to listed, gets a list of its own.
func (c clientIDs) claim(order []byte, id uuid.UUID, row, listed []byte) error {
	if row != nil {
		if have := clientIDOf(row); have != id {
			return fmt.Errorf("order %d: client order id %s differs from the stored one, %s", orderOfKey(order), id,
				have)
		}
		return nil
	}
	if bytes.Compare(order, listed) > 0 {
		return nil
	}
	return c.put(append(bytes.Clone(listed), order...), append(id[:], order...))
}

// put writes a list under its key.
func (c clientIDs) put(key, list []byte) error {
	return c.lists.Put(key, sealRow(list, key, 0))
}

// makeList makes a list of the orders after the last list, if there are enough of them.
func (c clientIDs) makeList() error {
	last, _ := bolt.NewCursor(c.table).Last()
	if len(last) < 8 || orderOfKey(last)-orderOfKey(c.lastListed()) < listOrders {
		return nil
	}
	var list []byte
	c.recent(func(key, row []byte) bool {
		id := clientIDOf(row)
		list = append(append(list, id[:]...), key[:8]...)
		return true
	})
	if err := c.put(bytes.Clone(last[:8]), sortIDs(list)); err != nil {
		return err
	}
	return c.merge()
}

// merge joins the short lists at the end into one, if there are enough of them.
func (c clientIDs) merge() error {
	var keys [][]byte
	var all []byte
	cursor := bolt.NewCursor(c.lists)
	const short = listOrders * joinLists * idEntry / 2 // bytes
	for key, list := cursor.Last(); key != nil && len(list) < short; key, list = cursor.Prev() {
		keys = append(keys, bytes.Clone(key))
		all = append(all, list[:len(list)/idEntry*idEntry]...)
	}
	if len(keys) < joinLists {
		return nil
	}
	for _, key := range keys {
		if err := c.lists.Delete(key); err != nil {
			return err
		}
	}
	return c.put(keys[0][:8], sortIDs(all))
}

// sortIDs returns the entries of a list, sorted.
func sortIDs(list []byte) []byte {
	entries := slices.SortedFunc(slices.Chunk(list, idEntry), bytes.Compare)
	return slices.Concat(entries...)
}

// clientIDOf returns the client order id of a stored row, which follows its version.
func clientIDOf(row []byte) (id uuid.UUID) {
	if len(row) > 16 {
		copy(id[:], row[1:])
	}
	return id
}
