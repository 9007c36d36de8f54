package journal

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// The story of an order is the numbers of the journal entries about it. It stands in rows of
// bucketOrders. The key of a row ends in its first number; its value is the distances of up to
// storyRow−1 further ones, as Uints.
const storyRow = 64

// told is an entry of a commit that belongs to the story of an order.
type told struct {
	order  market.OrderID
	number uint64
}

// appendStory appends the numbers of a row of a story.
func appendStory(dst []uint64, key, value []byte) ([]uint64, error) {
	if len(key) != 17 || key[8] != partStory {
		return dst, fmt.Errorf("%w: key %s is not that of a story", bolt.ErrCorrupt, bolt.FormatKey(key))
	}
	number := binary.BigEndian.Uint64(key[9:])
	for dst = append(dst, number); len(value) > 0; dst = append(dst, number) {
		distance, n := binary.Uvarint(value)
		if n <= 0 || distance == 0 || number+distance < number {
			return dst, fmt.Errorf("%w: the story of order %d after entry %d", bolt.ErrCorrupt, orderOfKey(key),
				number)
		}
		number += distance
		value = value[n:]
	}
	return dst, nil
}

// storyOf returns the numbers of the entries about an order, in order.
func storyOf(orders *bbolt.Bucket, id market.OrderID) (numbers []uint64, err error) {
	prefix := part(orderKey(id), partStory, nil)
	cursor := bolt.NewCursor(orders)
	for key, value := cursor.Seek(prefix); bytes.HasPrefix(key, prefix) && err == nil; key, value = cursor.Next() {
		numbers, err = appendStory(numbers, key, value)
	}
	return numbers, err
}

// lastStory returns the row of an order's story that begins with a number or before it, nil for
// none.
func lastStory(orders *bbolt.Bucket, order []byte, number uint64) (key, value []byte) {
	cursor := bolt.NewCursor(orders)
	wanted := part(order, partStory, key64(number))
	key, value = cursor.Seek(wanted)
	switch {
	case key == nil:
		key, value = cursor.Last()
	case !bytes.Equal(key, wanted):
		key, value = cursor.Prev()
	}
	if !bytes.HasPrefix(key, wanted[:9]) {
		return nil, nil
	}
	return key, value
}

// tell adds the entries of the commit to the stories of their orders.
func (c *committer) tell() error {
	slices.SortStableFunc(c.told, func(x, y told) int { return cmp.Compare(x.order, y.order) })
	for len(c.told) > 0 {
		n := 1
		for n < len(c.told) && c.told[n].order == c.told[0].order {
			n++
		}
		if err := c.tellOne(c.told[:n]); err != nil {
			return err
		}
		c.told = c.told[n:]
	}
	return nil
}

// tellOne adds entries to the story of one order.
func (c *committer) tellOne(entries []told) error {
	order := orderKey(entries[0].order)
	var key, row []byte
	var last uint64
	count := storyRow // there is no row yet
	if known, value := c.lastStory(order); known != nil {
		numbers, err := appendStory(nil, known, value)
		if err != nil {
			return err
		}
		key, row = bytes.Clone(known), bytes.Clone(value)
		last, count = numbers[len(numbers)-1], len(numbers)
	}
	for _, next := range entries {
		if count < storyRow {
			row = binary.AppendUvarint(row, next.number-last)
			last = next.number
			count++
			continue
		}
		if key != nil {
			if err := c.table.Put(key, row); err != nil {
				return err
			}
		}
		key, row, last, count = part(order, partStory, key64(next.number)), nil, next.number, 1
	}
	return c.table.Put(key, row)
}

// lastStory returns the last row of an order's story, nil for none: without a look-up if the order
// is newer than all in the file.
func (c *committer) lastStory(order []byte) (key, value []byte) {
	if bytes.Compare(order, c.known) > 0 {
		return nil, nil
	}
	return lastStory(c.table, order, c.head.number)
}
