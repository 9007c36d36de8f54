package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// Trimmed counts what a Trim removed.
type Trimmed struct {
	Removed
	More bool // another Trim may have something to do
	// Damaged is why nothing was removed: something cannot be read. Check has all flaws.
	Damaged error
}

// clocksApart is how much later the exchange may say that an order ended than the journal does. An
// order that would stay for that would not be looked at again.
const clocksApart = market.Duration(24 * time.Hour)

// Trim lets the next Commit remove the oldest 256 entries of the journal, if all of them are older
// than a time, and the ended orders that they are the last about, with their fills. Orders that are
// open or wait for a fee stay with their whole story. Unlike Prune, Trim keeps no ended order for a
// position that is still held. bbolt uses the room again: a file that is trimmed stops growing. A
// batch without anything else is not committed, and trims nothing.
func (b *Batch) Trim(before market.Time) { b.before = before }

// Trimmed returns what the last Commit with a Trim removed.
func (s *Store) Trimmed() Trimmed { return s.trimmed }

// trimmer removes a block of entries in the transaction of a commit. All that it reads it reads
// before it writes: damage is no reason for a failed commit.
type trimmer struct {
	aging
	until   market.Time // entries from then on stay
	entries *entries
	from    cut // before
	to      cut
	block   []blockEntry
	looked  map[market.OrderID]bool
	gone    []OrderRow
	strange []market.OrderID // orders without a row that the block names
	old     []oldEntry       // that were kept for the orders which go now
	Trimmed
}

// blockEntry is an entry of the block, as it is stored alone.
type blockEntry struct {
	number uint64
	stored []byte
	orders []market.OrderID
}

// oldEntry is an entry before the block that was kept.
type oldEntry struct {
	blockEntry
	needed bool // by an order that stays
}

// trim removes the oldest block of entries, if it is old enough.
func (c *committer) trim() (done Trimmed, err error) {
	t := trimmer{entries: &entries{tx: c.tx, alone: c.tx.Bucket(bucketJournal), segments: c.tx.Bucket(bucketSegments),
		squeezer: c.packer.squeezer}, looked: map[market.OrderID]bool{},
		until: c.before, aging: aging{tx: c.tx, names: c.enc.Names, before: c.before.Add(clocksApart)}}
	if err := t.plan(c.head.number); err != nil {
		return Trimmed{Damaged: err}, nil
	}
	if t.More {
		err = t.apply()
	}
	return t.Trimmed, err
}

// plan decides what goes.
func (t *trimmer) plan(head uint64) (err error) {
	if t.from, err = cutOf(t.tx); err != nil {
		return err
	}
	t.to = t.from
	if err := t.readBlock(head); err != nil {
		return err
	}
	t.last, t.More = t.to.number, len(t.block) > 0
	for i := range t.block {
		for _, id := range t.block[i].orders {
			if err := t.look(id); err != nil {
				return err
			}
		}
	}
	return t.findOld()
}

// readBlock reads the entries up to the end of a segment, unless one is too young. The last full
// segment stays.
func (t *trimmer) readBlock(head uint64) error {
	next, end := t.from.number+1, segmentOf(t.from.number+1)
	if head < end+segmentEntries {
		return nil
	}
	errEnd := errors.New("the block has ended")
	err := t.entries.forward(context.Background(), next, func(key, stored []byte) error {
		if number := binary.BigEndian.Uint64(key); number != next {
			return fmt.Errorf("journal entry %d: %w: %d follows it", next-1, boltfile.ErrCorrupt, number)
		}
		if timeOfKey(stored[sha256.Size:]) >= t.until {
			t.block = nil
			return errEnd
		}
		e, err := readEntry(t.names, key, stored)
		if err != nil {
			return err
		}
		t.block = append(t.block, blockEntry{next, bytes.Clone(stored), ordersOf(nil, 0, e.Record)})
		if next++; next > end {
			return errEnd
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnd) {
		return err
	}
	if len(t.block) > 0 {
		t.to.number, t.to.hash = end, [sha256.Size]byte(t.block[len(t.block)-1].stored)
	}
	return nil
}

// look decides about an order.
func (t *trimmer) look(id market.OrderID) error {
	if t.looked[id] {
		return nil
	}
	t.looked[id] = true
	key := part(orderKey(id), partRow, nil)
	value := t.tx.Bucket(bucketOrders).Get(key)
	if value == nil {
		t.strange = append(t.strange, id)
		return nil
	}
	row, err := readOrder(t.names, key, value)
	if err != nil {
		return err
	}
	finished, err := t.finished(&row)
	if err == nil && finished {
		t.gone = append(t.gone, row)
	}
	return err
}

// findOld finds the entries before the block that were kept for the orders which go now.
func (t *trimmer) findOld() error {
	gone := map[market.OrderID]bool{}
	for i := range t.gone {
		gone[t.gone[i].ID] = true
	}
	known := map[uint64]bool{}
	for i := range t.gone {
		numbers, err := storyOf(t.tx.Bucket(bucketOrders), t.gone[i].ID)
		if err != nil {
			return err
		}
		for _, number := range numbers {
			stored := t.entries.alone.Get(key64(number))
			if number > t.from.number || known[number] || stored == nil {
				continue
			}
			known[number] = true
			e, err := readEntry(t.names, key64(number), stored)
			if err != nil {
				return err
			}
			orders := ordersOf(nil, 0, e.Record)
			stays := func(id market.OrderID) bool { return !gone[id] && t.has(id) }
			t.old = append(t.old, oldEntry{blockEntry{number, bytes.Clone(stored), orders},
				slices.ContainsFunc(orders, stays)})
		}
	}
	return nil
}

// apply removes what plan has found.
func (t *trimmer) apply() error {
	for i := range t.gone {
		if err := t.dropOrder(&t.gone[i]); err != nil {
			return err
		}
	}
	for _, id := range t.strange {
		if err := t.cutStory(id); err != nil {
			return err
		}
	}
	for i := range t.old {
		if err := t.dropOld(&t.old[i]); err != nil {
			return err
		}
	}
	if err := t.dropBlock(); err != nil {
		return err
	}
	if err := t.dropLists(); err != nil {
		return err
	}
	return errors.Join(t.to.put(t.tx), current.stamp(t.tx))
}

// dropOrder removes an order with all its parts.
func (t *trimmer) dropOrder(o *OrderRow) error {
	orders, fills, id := t.tx.Bucket(bucketOrders), t.tx.Bucket(bucketFills), orderKey(o.ID)
	var keys [][]byte
	cursor := boltfile.NewCursor(orders)
	for key, value := cursor.Seek(id); bytes.HasPrefix(key, id); key, value = cursor.Next() {
		keys = append(keys, bytes.Clone(key))
		if key[8] != partFill {
			continue
		}
		t.Fills++
		if err := fills.Delete(append(append(bytes.Clone(value), id...), key[9:]...)); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if err := orders.Delete(key); err != nil {
			return err
		}
	}
	t.Orders++
	t.to.orders = max(t.to.orders, o.ID)
	return t.tx.Bucket(bucketExchangeIDs).Delete(exchangeKey(o.ExchangeID, t.names.Catalog().Market(o.Market).Name))
}

// cutStory removes the entries up to the cut from the story of an order without a row.
func (t *trimmer) cutStory(id market.OrderID) error {
	orders, prefix := t.tx.Bucket(bucketOrders), part(orderKey(id), partStory, nil)
	type row struct{ key, value []byte }
	var rows []row
	cursor := boltfile.NewCursor(orders)
	for key, value := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
		rows = append(rows, row{bytes.Clone(key), bytes.Clone(value)})
	}
	for _, r := range rows {
		key, left, err := storyLeft(r.key, r.value, t.to.number)
		if err != nil {
			return err
		}
		if err := orders.Delete(r.key); err != nil {
			return err
		}
		if key == nil {
			continue
		}
		if err := orders.Put(key, left); err != nil {
			return err
		}
	}
	return nil
}

// dropOld removes an old entry that no order needs any more, with the hash before it. The entry
// behind it gets the hash of this one.
func (t *trimmer) dropOld(e *oldEntry) error {
	if e.needed {
		return nil
	}
	journal, checkpoints := t.entries.alone, t.tx.Bucket(bucketCheckpoints)
	t.Entries++
	err := errors.Join(journal.Delete(key64(e.number)), checkpoints.Delete(key64(e.number-1)))
	if err == nil && e.number < t.from.number && journal.Get(key64(e.number+1)) != nil {
		err = checkpoints.Put(key64(e.number), e.stored[:sha256.Size])
	}
	return err
}

// dropBlock removes the block, but for the entries of orders that stay. These stand alone from now
// on, each with the hash before it as a checkpoint.
func (t *trimmer) dropBlock() error {
	journal, checkpoints := t.entries.alone, t.tx.Bucket(bucketCheckpoints)
	if err := t.tx.Bucket(bucketSegments).Delete(key64(t.to.number)); err != nil {
		return err
	}
	before := t.from.hash[:]
	for i := range t.block {
		e := &t.block[i]
		var err error
		if slices.ContainsFunc(e.orders, t.has) {
			err = journal.Put(key64(e.number), e.stored)
			if e.number > 1 {
				err = errors.Join(err, checkpoints.Put(key64(e.number-1), before))
			}
		} else {
			t.Entries++
			err = errors.Join(journal.Delete(key64(e.number)), checkpoints.Delete(key64(e.number-1)))
		}
		if err != nil {
			return err
		}
		before = e.stored[:sha256.Size]
	}
	return checkpoints.Put(key64(t.to.number), before)
}

// dropLists removes the first list of client order ids whose orders are all gone. The last list
// stays: its key says where the orders without a list begin.
func (t *trimmer) dropLists() error {
	lists := t.tx.Bucket(bucketClientIDs)
	cursor, orders := boltfile.NewCursor(lists), boltfile.NewCursor(t.tx.Bucket(bucketOrders))
	last, _ := boltfile.NewCursor(lists).Last()
	since := market.OrderID(0) // orders of earlier lists
	for key, _ := cursor.First(); key != nil && orderOfKey(key) <= t.to.orders && !bytes.Equal(key, last); {
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
