package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// A journal entry is stored as hash, time (8 bytes), kind, version, content. Its hash covers the
// hash of the previous entry, its number, and everything from the time on. The entry is built in a
// buffer in this order; then its own hash replaces the bytes in front of the time.
const (
	entryFront = sha256.Size + 8 // hash of the entry before, number
	entryHead  = sha256.Size + 8 // as stored: own hash, time
)

var keyHead = []byte("head") // meta: number and hash of the last entry

// head is the end of the journal.
type head struct {
	number uint64
	hash   [sha256.Size]byte
}

func headOf(tx *bbolt.Tx) (h head, err error) {
	value := tx.Bucket(bolt.BucketMeta).Get(keyHead)
	if len(value) != entryFront {
		return h, fmt.Errorf("%w: meta: the end of the journal has %d bytes, not %d", bolt.ErrCorrupt,
			len(value), entryFront)
	}
	h.number = binary.BigEndian.Uint64(value)
	copy(h.hash[:], value[8:])
	return h, nil
}

func putHead(tx *bbolt.Tx, h head) error {
	value := binary.BigEndian.AppendUint64(make([]byte, 0, entryFront), h.number)
	return tx.Bucket(bolt.BucketMeta).Put(keyHead, append(value, h.hash[:]...))
}

// seal writes the number and hash of an entry that was built with room for the front. It returns
// the stored form, a part of entry.
func (h *head) seal(entry []byte) []byte {
	h.number++
	copy(entry, h.hash[:])
	binary.BigEndian.PutUint64(entry[sha256.Size:], h.number)
	h.hash = sha256.Sum256(entry)
	stored := entry[entryFront-sha256.Size:]
	copy(stored, h.hash[:])
	return stored
}

// chain checks stored entries one after another against the hash of the previous one.
type chain struct {
	head
	buffer []byte
}

// next checks one entry.
func (c *chain) next(key, value []byte) error {
	if len(key) != 8 || len(value) < entryHead+2 {
		return fmt.Errorf("%w: journal entry behind number %d: key %s, %d bytes", bolt.ErrCorrupt, c.number,
			bolt.FormatKey(key), len(value))
	}
	if number := binary.BigEndian.Uint64(key); number != c.number+1 {
		return fmt.Errorf("%w: journal entry %d follows number %d", bolt.ErrCorrupt, number, c.number)
	}
	c.buffer = append(append(c.buffer[:0], make([]byte, entryFront)...), value[sha256.Size:]...)
	stored := value[:sha256.Size]
	want := c.head
	want.seal(c.buffer)
	if !bytes.Equal(stored, want.hash[:]) {
		return fmt.Errorf("%w: journal entry %d: its hash does not fit it and the entry before", bolt.ErrCorrupt,
			want.number)
	}
	c.head = want
	return nil
}

// checkTail checks the journal from its last checkpoint on.
func (s *Store) checkTail(tx *bbolt.Tx) error {
	c, journal := chain{}, s.entriesOf(tx)
	from, err := cutOf(tx)
	if err != nil {
		return err
	}
	if number, hash := bolt.NewCursor(tx.Bucket(bucketCheckpoints)).Last(); from.number > 0 &&
		bytes.Equal(number, key64(from.number)) {
		c.head = from.head
	} else if number != nil {
		if err := c.resume(journal, number, hash); err != nil {
			return err
		}
	}
	if err := journal.forward(s.reading, c.number+1, c.next); err != nil {
		return err
	}
	return c.checkEnd(tx)
}

// resume begins a chain behind the entry that a checkpoint names.
func (c *chain) resume(journal *entries, number, hash []byte) (err error) {
	var value []byte
	if len(number) == 8 && len(hash) == sha256.Size {
		c.number, c.hash = binary.BigEndian.Uint64(number), [sha256.Size]byte(hash)
		value, err = journal.get(c.number)
	}
	if err == nil && (value == nil || !bytes.HasPrefix(value, hash)) {
		err = fmt.Errorf("%w: journal entry %s is not the one that its checkpoint names", bolt.ErrCorrupt,
			bolt.FormatKey(number))
	}
	return err
}

// checkEnd checks that the last entry read is the one that the file names as the last.
func (c *chain) checkEnd(tx *bbolt.Tx) error {
	end, err := headOf(tx)
	if err == nil && end != c.head {
		err = fmt.Errorf("%w: the journal ends with entry %d, not with %d as the file says", bolt.ErrCorrupt,
			c.number, end.number)
	}
	return err
}

// readEntry decodes a stored entry.
func (s *Store) readEntry(key, value []byte) (Entry, error) {
	e, err := readEntry(s.names, key, value)
	return e, s.wrap(err)
}

func readEntry(n *codec.Names, key, value []byte) (Entry, error) {
	if len(key) != 8 || len(value) < entryHead {
		return Entry{}, fmt.Errorf("%w: journal key %s", bolt.ErrCorrupt, bolt.FormatKey(key))
	}
	var d recordDecoder
	d.Open(n, value[entryHead:])
	e := Entry{Number: binary.BigEndian.Uint64(key), At: timeOfKey(value[sha256.Size:])}
	copy(e.Hash[:], value)
	e.Record = d.record()
	if err := d.End(); err != nil {
		return Entry{}, fmt.Errorf("journal entry %d: %w", e.Number, err)
	}
	e.Kind = e.Record.entryKind()
	return e, nil
}
