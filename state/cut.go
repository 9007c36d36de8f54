package state

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
)

// keyCut is where meta says what Prune took out; files that were never pruned do not have it.
var keyCut = []byte("cut")

// cut is what a state file lacks: the journal up to an entry, but for entries about orders that are still in the file, and orders up to a
// number, but for those. The chain goes on from the last entry's hash, which is a checkpoint. An entry that was left behind the others has
// the hash of the one before it as a checkpoint.
type cut struct {
	head
	orders market.OrderID // the highest number of an order that was taken out
}

const cutSize = 8 + sha256.Size + 8

func cutOf(tx *bbolt.Tx) (c cut, err error) {
	value := tx.Bucket(bucketMeta).Get(keyCut)
	if value == nil {
		return c, nil
	}
	if len(value) != cutSize {
		return c, fmt.Errorf("%w: what was taken out is written as %x", ErrCorrupt, value)
	}
	c.number = binary.BigEndian.Uint64(value)
	copy(c.hash[:], value[8:])
	c.orders = orderOfKey(value[8+sha256.Size:])
	return c, nil
}

func (c *cut) put(tx *bbolt.Tx) error {
	value := append(key64(c.number), c.hash[:]...)
	return tx.Bucket(bucketMeta).Put(keyCut, appendKey(value, uint64(c.orders)))
}

// jump moves a chain to in front of an entry that was left behind, or of the first one behind the cut, where its hash is known.
func (c *chain) jump(tx *bbolt.Tx, from cut, key []byte) {
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

// finish moves a chain to the cut, where nothing stands behind it.
func (c *chain) finish(from cut) {
	if c.number < from.number {
		c.head = from.head
	}
}
