package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// keyCut is where meta says what Prune took out; files that were never pruned do not have it.
var keyCut = []byte("cut")

// cut is what a state file lacks: the journal up to an entry, and orders up to a number. Orders
// that were not over stay, with the entries about them. After the cut the chain goes on from the
// hash of the last entry before it, which is a checkpoint. An entry before the cut that stays has
// the hash of its predecessor as a checkpoint.
type cut struct {
	head
	orders market.OrderID // the highest number of an order that was taken out
}

const cutSize = 8 + sha256.Size + 8

func cutOf(tx *bbolt.Tx) (c cut, err error) {
	value := tx.Bucket(boltfile.BucketMeta).Get(keyCut)
	if value == nil {
		return c, nil
	}
	if len(value) != cutSize {
		return c, fmt.Errorf("%w: meta: what was taken out is written in %d bytes, not %d", boltfile.ErrCorrupt,
			len(value), cutSize)
	}
	c.number = binary.BigEndian.Uint64(value)
	copy(c.hash[:], value[8:])
	c.orders = orderOfKey(value[8+sha256.Size:])
	return c, nil
}

func (c *cut) put(tx *bbolt.Tx) error {
	value := append(key64(c.number), c.hash[:]...)
	return tx.Bucket(boltfile.BucketMeta).Put(keyCut, appendKey(value, uint64(c.orders)))
}

// skipTo moves a chain to just before an old entry that stays, or before the first one after the cut,
// where the hash of its predecessor is known.
func (c *chain) skipTo(tx *bbolt.Tx, from cut, key []byte) {
	if len(key) != 8 || from.number == 0 {
		return
	}
	number := binary.BigEndian.Uint64(key)
	if number == c.number+1 || number > from.number+1 {
		return
	}
	if hash := tx.Bucket(bucketCheckpoints).Get(key64(number - 1)); len(hash) == sha256.Size {
		c.number = number - 1
		copy(c.hash[:], hash)
	}
}

// finish moves a chain to the cut, where no entry comes after it.
func (c *chain) finish(from cut) {
	if c.number < from.number {
		c.head = from.head
	}
}
