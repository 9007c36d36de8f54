package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// block is the oldest block of entries, as one step of a trim has read it. The next steps remove
// the orders that it is the last about, the last step removes the block. In between its entries
// name orders that are gone.
type block struct {
	to       head // its last entry
	entries  []blockEntry
	youngest market.Time
	left     []market.OrderID // orders that no step has decided about
	strange  []market.OrderID // orders without a row
}

// blockEntry is an entry, as it is stored alone.
type blockEntry struct {
	number uint64
	stored []byte
	orders []market.OrderID
}

// readBlock reads the entries up to the end of a segment. It returns nil if one is too young. The
// last full segment stays.
func (t *trimmer) readBlock(head uint64) (*block, error) {
	next, end := t.cut.number+1, segmentOf(t.cut.number+1)
	if head < end+segmentEntries {
		return nil, nil
	}
	b := &block{}
	errEnd := errors.New("the block has ended")
	err := t.entries.forward(context.Background(), next, func(key, stored []byte) error {
		if number := binary.BigEndian.Uint64(key); number != next {
			return fmt.Errorf("journal entry %d: %w: %d follows it", next-1, bolt.ErrCorrupt, number)
		}
		if b.youngest = max(b.youngest, timeOfKey(stored[sha256.Size:])); b.youngest >= t.until {
			return errEnd
		}
		e, err := readEntry(t.names, key, stored)
		if err != nil {
			return err
		}
		b.add(&e, stored)
		if next++; next > end {
			return errEnd
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnd) {
		return nil, err
	}
	if next <= end {
		return nil, nil
	}
	return b, nil
}

// add adds the next entry, as it is stored alone.
func (b *block) add(e *Entry, stored []byte) {
	orders := ordersOf(nil, 0, e.Record)
	b.entries = append(b.entries, blockEntry{e.Number, bytes.Clone(stored), orders})
	b.to = head{number: e.Number, hash: e.Hash}
	for _, id := range orders {
		if !slices.Contains(b.left, id) {
			b.left = append(b.left, id)
		}
	}
}

// dropBlock removes the block, but for the entries of orders that stay. These stand alone from now
// on, each with the hash before it as a checkpoint.
func (t *trimmer) dropBlock() error {
	b := t.block
	for _, id := range b.strange {
		if err := t.cutStory(id, func(number uint64) bool { return number <= b.to.number }); err != nil {
			return err
		}
	}
	if err := t.tx.Bucket(bucketSegments).Delete(key64(b.to.number)); err != nil {
		return err
	}
	before := bytes.Clone(t.cut.hash[:]) // bbolt keeps it, and the cut moves
	for i := range b.entries {
		if err := t.dropEntry(&b.entries[i], before); err != nil {
			return err
		}
		before = b.entries[i].stored[:sha256.Size]
	}
	t.cut.head, t.block = b.to, nil
	if err := t.tx.Bucket(bucketCheckpoints).Put(key64(t.cut.number), before); err != nil {
		return err
	}
	return t.dropLists()
}

// dropEntry removes an entry of the block, or lets it stand alone. It takes the hash before it.
func (t *trimmer) dropEntry(e *blockEntry, before []byte) error {
	journal, checkpoints := t.entries.alone, t.tx.Bucket(bucketCheckpoints)
	if !slices.ContainsFunc(e.orders, t.has) {
		t.Entries++
		return errors.Join(journal.Delete(key64(e.number)), checkpoints.Delete(key64(e.number-1)))
	}
	if err := journal.Put(key64(e.number), e.stored); err != nil || e.number == 1 {
		return err
	}
	return checkpoints.Put(key64(e.number-1), before)
}

// dropLists removes the first list of client order ids whose orders are all gone. The last list
// stays: its key says where the orders without a list begin.
func (t *trimmer) dropLists() error {
	lists := t.tx.Bucket(bucketClientIDs)
	cursor, orders := bolt.NewCursor(lists), bolt.NewCursor(t.tx.Bucket(bucketOrders))
	last, _ := bolt.NewCursor(lists).Last()
	since := market.OrderID(0) // orders of earlier lists
	for key, _ := cursor.First(); key != nil && orderOfKey(key) <= t.cut.orders && !bytes.Equal(key, last); {
		if len(key) == 8 {
			if next, _ := orders.Seek(orderKey(since + 1)); next == nil || orderOfKey(next) > orderOfKey(key) {
				return lists.Delete(bytes.Clone(key))
			}
			since = orderOfKey(key)
		}
		key, _ = cursor.Next()
	}
	return nil
}
