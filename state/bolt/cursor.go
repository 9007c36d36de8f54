package bolt

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// Cursor walks over the keys of a bucket; every walk over a file uses one. bbolt follows pages
// without a check. A Cursor checks that keys rise at each step forward, fall at each step back, and
// that a found key is not below the wanted one: so a walk reaches every key at most once, however
// the file is damaged. On a violation it panics with an error, which CatchCorrupt turns into
// ErrCorrupt.
type Cursor struct {
	keys *bbolt.Cursor
	last []byte
}

// NewCursor returns a cursor over the keys of a bucket, valid as long as the transaction.
func NewCursor(b *bbolt.Bucket) *Cursor { return &Cursor{keys: b.Cursor()} }

// First moves to the first key, nil for an empty bucket. The value of a nested bucket is nil, in
// all methods.
func (c *Cursor) First() (key, value []byte) {
	key, value = c.keys.First()
	return c.at(key), value
}

// Last moves to the last key.
func (c *Cursor) Last() (key, value []byte) {
	key, value = c.keys.Last()
	return c.at(key), value
}

// Seek moves to the first key at or above wanted.
func (c *Cursor) Seek(wanted []byte) (key, value []byte) {
	key, value = c.keys.Seek(wanted)
	if key != nil && bytes.Compare(key, wanted) < 0 {
		panic(outOfOrder(wanted, key))
	}
	return c.at(key), value
}

// SeekAfter moves to the first key above past, a key of this walk that may have been deleted since.
func (c *Cursor) SeekAfter(past []byte) (key, value []byte) {
	c.at(past)
	if key, value = c.keys.Seek(past); bytes.Equal(key, past) {
		return c.Next()
	}
	return c.step(key, 1), value
}

// Next moves to the next key, nil after the last one.
func (c *Cursor) Next() (key, value []byte) {
	key, value = c.keys.Next()
	return c.step(key, 1), value
}

// Prev moves to the previous key, nil before the first one.
func (c *Cursor) Prev() (key, value []byte) {
	key, value = c.keys.Prev()
	return c.step(key, -1), value
}

// Delete deletes the key at the cursor. Continue with SeekAfter.
func (c *Cursor) Delete() error { return c.keys.Delete() }

// at stores the present key.
func (c *Cursor) at(key []byte) []byte {
	c.last = append(c.last[:0], key...)
	return key
}

func (c *Cursor) step(key []byte, direction int) []byte {
	if key != nil && len(c.last) > 0 && bytes.Compare(key, c.last) != direction {
		panic(outOfOrder(c.last, key))
	}
	return c.at(key)
}

func outOfOrder(before, key []byte) error {
	return fmt.Errorf("the keys of a table are out of order: %s comes after %s", FormatKey(key), FormatKey(before))
}

// ForEach calls visit with every key of a bucket, in order, until visit returns an error, which
// ForEach returns.
func ForEach(b *bbolt.Bucket, visit func(key, value []byte) error) error {
	c := NewCursor(b)
	for key, value := c.First(); key != nil; key, value = c.Next() {
		if err := visit(key, value); err != nil {
			return err
		}
	}
	return nil
}

// ForEachBucket calls visit with the name of every bucket in b, which holds only buckets, like
// ForEach.
func ForEachBucket(b *bbolt.Bucket, visit func(name []byte) error) error {
	return ForEach(b, func(name, value []byte) error {
		if value != nil {
			return fmt.Errorf("%w: %q is marked as a row, and should be a table", ErrCorrupt, name)
		}
		return visit(name)
	})
}

// FormatKey returns a key for messages: as a number, an id, a text, or its first bytes in
// hexadecimal.
func FormatKey(key []byte) string {
	switch {
	case len(key) == 8:
		return strconv.FormatUint(binary.BigEndian.Uint64(key), 10)
	case len(key) == 16:
		return uuid.UUID(key).String()
	case !bytes.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		return strconv.Quote(string(key))
	}
	return hex.EncodeToString(key[:min(len(key), 12)])
}
