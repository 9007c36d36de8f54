package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// keyCut is the key in meta that says what Prune removed. A file that was never pruned lacks it.
var keyCut = []byte("cut")

// cut says what Prune removed: the journal up to an entry, and orders up to a number. Orders that
// had not ended are kept, with their entries. After the cut the chain continues from the hash of
// the last removed entry, which is a checkpoint. An older entry that was kept has the hash of its
// predecessor as a checkpoint.
type cut struct {
	head
	orders market.OrderID // the highest number of a removed order
}

const cutSize = 8 + sha256.Size + 8

func cutOf(tx *bbolt.Tx) (c cut, err error) {
	value := tx.Bucket(bolt.BucketMeta).Get(keyCut)
	if value == nil {
		return c, nil
	}
	if len(value) != cutSize {
		return c, fmt.Errorf("%w: meta: the cut has %d bytes, not %d", bolt.ErrCorrupt,
			len(value), cutSize)
	}
	c.number = binary.BigEndian.Uint64(value)
	copy(c.hash[:], value[8:])
	c.orders = orderOfKey(value[8+sha256.Size:])
	return c, nil
}

func (c *cut) put(tx *bbolt.Tx) error {
	value := append(key64(c.number), c.hash[:]...)
	return tx.Bucket(bolt.BucketMeta).Put(keyCut, appendKey(value, uint64(c.orders)))
}

// skipTo moves a chain to just before an old entry that was kept, or before the first entry after
// the cut, where a checkpoint has the hash of the predecessor.
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

// finish moves a chain to the cut if no entry follows the cut.
func (c *chain) finish(from cut) {
	if c.number < from.number {
		c.head = from.head
	}
}
