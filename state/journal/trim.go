package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
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

// trimWork is the number of rows after which a step of a trim ends. The row of an order, its fills
// and their ids go in one step, however many they are.
const trimWork = 96

// Trim lets the next Commit take one step to remove the oldest 256 entries of the journal, if all
// of them are older than a time, and the ended orders that they are the last about, with their
// fills. A step reads the entries, or removes a few orders, or removes the entries. Orders that are
// open or wait for a fee stay with their whole story. Unlike Prune, Trim keeps no ended order for a
// position that is still held. bbolt uses the room again: a file that is trimmed stops growing. A
// batch without anything else is not committed, and trims nothing.
func (b *Batch) Trim(before market.Time) { b.before = before }

// Trimmed returns what the last Commit with a Trim removed.
func (s *Store) Trimmed() Trimmed { return s.trimmed }

// trimmer takes one step in the transaction of a commit. All that it reads it reads before it
// writes: damage is no reason for a failed commit.
type trimmer struct {
	aging
	until   market.Time // entries from then on stay
	entries *entries
	cut     cut
	block   *block
	gone    []goneOrder
	whole   map[market.OrderID]bool // the orders in gone of which nothing stays
	old     []blockEntry            // before the block, which no order needs any more
	ends    bool                    // the block goes
	work    int                     // rows that this step removes or looks at
	Trimmed
}

// goneOrder is an order that goes.
type goneOrder struct {
	OrderRow
	story []uint64
	parts [][]byte        // its keys in the table of orders
	fills [][]byte        // its keys in the table of fills
	old   map[uint64]bool // the entries that this step removes from its story; nil: the order goes
}

// trim takes a step. It returns the block for the next one.
func (c *committer) trim(known *block) (Trimmed, *block, error) {
	if c.packed { // this commit is long already
		return Trimmed{More: true}, known, nil
	}
	t := trimmer{entries: &entries{tx: c.tx, alone: c.tx.Bucket(bucketJournal), segments: c.tx.Bucket(bucketSegments),
		squeezer: c.packer.squeezer}, whole: map[market.OrderID]bool{}, block: known,
		until: c.before, aging: aging{tx: c.tx, names: c.enc.Names, before: c.before.Add(clocksApart)}}
	if err := t.plan(c.head.number); err != nil {
		return Trimmed{Damaged: err}, nil, nil
	}
	err := t.apply()
	return t.Trimmed, t.block, err
}

// plan decides what this step removes.
func (t *trimmer) plan(head uint64) (err error) {
	if t.cut, err = cutOf(t.tx); err != nil {
		return err
	}
	if t.block == nil {
		t.block, err = t.readBlock(head)
		t.More = t.block != nil
		return err
	}
	if t.block.youngest >= t.until {
		return nil
	}
	t.last, t.More = t.block.to.number, true
	t.ends = len(t.block.left) == 0
	for len(t.block.left) > 0 && t.work < trimWork {
		decided, err := t.look(t.block.left[0])
		if err != nil {
			return err
		}
		if decided {
			t.block.left = t.block.left[1:]
		}
	}
	return nil
}

// look decides about an order. It returns false if the next step has to go on with it.
func (t *trimmer) look(id market.OrderID) (decided bool, err error) {
	t.work++
	key := part(orderKey(id), partRow, nil)
	value := t.tx.Bucket(bucketOrders).Get(key)
	if value == nil {
		t.block.strange = append(t.block.strange, id)
		return true, nil
	}
	o := goneOrder{}
	if o.OrderRow, err = readOrder(t.names, key, value); err != nil {
		return false, err
	}
	if finished, err := t.finished(&o.OrderRow); err != nil || !finished {
		return true, err
	}
	if err := o.find(t.tx.Bucket(bucketOrders)); err != nil {
		return false, err
	}
	known := len(t.old)
	if decided, err = t.findOld(&o); err != nil {
		return false, err
	}
	if decided {
		t.whole[id] = true
		t.work += len(o.parts) + len(o.fills)
	} else {
		o.old = map[uint64]bool{}
		for i := range t.old[known:] {
			o.old[t.old[known+i].number] = true
		}
	}
	t.gone = append(t.gone, o)
	return decided, nil
}

// findOld finds the entries before the block that no order but this one needs. It returns false if
// there are more than this step may remove.
func (t *trimmer) findOld(o *goneOrder) (all bool, err error) {
	for _, number := range o.story {
		stored := t.entries.alone.Get(key64(number))
		if number > t.cut.number || stored == nil {
			continue
		}
		e, err := readEntry(t.names, key64(number), stored)
		if err != nil {
			return false, err
		}
		stays := func(id market.OrderID) bool { return id != o.ID && !t.whole[id] && t.has(id) }
		if slices.ContainsFunc(ordersOf(nil, 0, e.Record), stays) {
			continue
		}
		if t.work >= trimWork {
			return false, nil
		}
		t.old = append(t.old, blockEntry{number: number, stored: bytes.Clone(stored)})
		t.work += 2 // a checkpoint stands beside it
	}
	return true, nil
}

// find finds the parts of the order.
func (o *goneOrder) find(orders *bbolt.Bucket) (err error) {
	id := orderKey(o.ID)
	cursor := bolt.NewCursor(orders)
	for key, value := cursor.Seek(id); bytes.HasPrefix(key, id) && err == nil; key, value = cursor.Next() {
		o.parts = append(o.parts, bytes.Clone(key))
		switch key[8] {
		case partFill:
			o.fills = append(o.fills, append(append(bytes.Clone(value), id...), key[9:]...))
		case partStory:
			o.story, err = appendStory(o.story, key, value)
		}
	}
	return err
}

// apply removes what plan has found.
func (t *trimmer) apply() error {
	for i := range t.gone {
		o := &t.gone[i]
		if o.old != nil {
			if err := t.cutStory(o.ID, func(number uint64) bool { return o.old[number] }); err != nil {
				return err
			}
			continue
		}
		if err := t.dropOrder(o); err != nil {
			return err
		}
	}
	for i := range t.old {
		if err := t.dropOld(&t.old[i]); err != nil {
			return err
		}
	}
	if t.ends {
		if err := t.dropBlock(); err != nil {
			return err
		}
	}
	if len(t.gone) == 0 && !t.ends {
		return nil
	}
	return t.cut.put(t.tx)
}

// dropOrder removes an order with all its parts.
func (t *trimmer) dropOrder(o *goneOrder) error {
	orders, fills := t.tx.Bucket(bucketOrders), t.tx.Bucket(bucketFills)
	for _, key := range o.fills {
		if err := fills.Delete(key); err != nil {
			return err
		}
	}
	for _, key := range o.parts {
		if err := orders.Delete(key); err != nil {
			return err
		}
	}
	t.Orders++
	t.Fills += int64(len(o.fills))
	t.cut.orders = max(t.cut.orders, o.ID)
	return t.tx.Bucket(bucketExchangeIDs).Delete(exchangeKey(o.ExchangeID, t.names.Catalog().Market(o.Market).Name))
}

// cutStory removes entries from the story of an order. The rows of the story that lack them stay as
// they are.
func (t *trimmer) cutStory(id market.OrderID, goes func(number uint64) bool) error {
	orders, prefix := t.tx.Bucket(bucketOrders), part(orderKey(id), partStory, nil)
	type row struct{ key, value []byte }
	var rows []row
	cursor := bolt.NewCursor(orders)
	for key, value := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
		rows = append(rows, row{bytes.Clone(key), bytes.Clone(value)})
	}
	for _, r := range rows {
		key, left, err := storyLeft(r.key, r.value, goes)
		if err != nil {
			return err
		}
		if bytes.Equal(key, r.key) && bytes.Equal(left, r.value) {
			continue
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
func (t *trimmer) dropOld(e *blockEntry) error {
	journal, checkpoints := t.entries.alone, t.tx.Bucket(bucketCheckpoints)
	t.Entries++
	err := errors.Join(journal.Delete(key64(e.number)), checkpoints.Delete(key64(e.number-1)))
	if err == nil && e.number < t.cut.number && journal.Get(key64(e.number+1)) != nil {
		err = checkpoints.Put(key64(e.number), e.stored[:sha256.Size])
	}
	return err
}
