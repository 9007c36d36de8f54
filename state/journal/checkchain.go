package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// journal checks the chain. After an entry that does not fit, the walk continues from the number
// and hash of that entry.
func (c *checker) journal() {
	links := chain{}
	checkpoints := c.tx.Bucket(bucketCheckpoints)
	c.entries.damaged = func(key, row []byte, err error) error {
		c.note("journal", err)
		if len(key) == 8 && len(row) > segmentHead {
			links.number = binary.BigEndian.Uint64(key)
			copy(links.hash[:], row[1+sha256.Size:])
		}
		return nil
	}
	err := c.entries.forward(c.store.reading, 0, func(key, value []byte) error {
		c.report.Entries++
		links.skipTo(c.tx, c.from, key)
		if err := links.next(key, value); err != nil {
			c.note(fmt.Sprintf("journal entry %s", bolt.FormatKey(key)), err)
			if len(key) != 8 || len(value) < sha256.Size {
				return nil
			}
			links.number = binary.BigEndian.Uint64(key)
			copy(links.hash[:], value)
		}
		at := checkpoints.Get(key)
		if links.number > c.from.number && (links.number%checkpointEvery == 0) != (at != nil) || at != nil &&
			!bytes.Equal(at, links.hash[:]) {
			c.flaw(fmt.Sprintf("checkpoint %d", links.number), "it does not fit the journal")
		}
		c.entry(key, value)
		return nil
	})
	if err != nil {
		c.ended = err
		return
	}
	links.finish(c.from)
	c.note("journal", links.checkEnd(c.tx))
	c.each(bucketCheckpoints, c.checkpoint)
}

// checkpoint checks that a checkpoint is that of an entry, of the cut, or of the predecessor of an
// old entry that was kept.
func (c *checker) checkpoint(key, value []byte) {
	switch {
	case len(key) != 8:
		c.flaw(fmt.Sprintf("checkpoint %s", bolt.FormatKey(key)), "its key is not a number")
	case c.from.number > 0 && binary.BigEndian.Uint64(key) == c.from.number:
		if !bytes.Equal(value, c.from.hash[:]) {
			c.flaw(fmt.Sprintf("checkpoint %d", c.from.number), "it is not where the journal was cut")
		}
	case binary.BigEndian.Uint64(key) < c.from.number:
		if !c.entries.has(binary.BigEndian.Uint64(key) + 1) {
			c.flaw(fmt.Sprintf("checkpoint %s", bolt.FormatKey(key)), "no journal entry follows it")
		}
	case !c.entries.has(binary.BigEndian.Uint64(key)):
		c.flaw(fmt.Sprintf("checkpoint %s", bolt.FormatKey(key)), "there is no such journal entry")
	}
}

// entry checks that an entry can be read and that its orders have it in their stories.
func (c *checker) entry(key, value []byte) {
	e, err := c.store.readEntry(key, value)
	if err != nil {
		c.note(fmt.Sprintf("journal entry %s", bolt.FormatKey(key)), err)
		return
	}
	c.journalled.note(&e)
	for _, id := range ordersOf(nil, 0, e.Record) {
		if c.gone(id, e.Number) {
			continue
		}
		c.stories++
		if !c.inStory(id, e.Number) {
			c.flaw(fmt.Sprintf("journal entry %d", e.Number), "the story of order %d lacks it", id)
		}
	}
}

// gone reports whether an order was removed while an entry about it stayed: for another order, or
// because Trim has not come to the end of its block.
func (c *checker) gone(id market.OrderID, number uint64) bool {
	orders, key := c.tx.Bucket(bucketOrders), orderKey(id)
	if number <= c.from.number {
		return !has(orders, part(key, partRow, nil))
	}
	if id > c.from.orders || number > segmentOf(c.from.number+1) {
		return false
	}
	first, _ := bolt.NewCursor(orders).Seek(key)
	return !bytes.HasPrefix(first, key)
}

// inStory reports whether the story of an order has an entry.
func (c *checker) inStory(id market.OrderID, number uint64) bool {
	key, value := lastStory(c.tx.Bucket(bucketOrders), orderKey(id), number)
	if key == nil {
		return false
	}
	numbers, err := appendStory(nil, key, value)
	return err == nil && slices.Contains(numbers, number)
}
