package journal

import (
	"crypto/sha256"
	"encoding/binary"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// maxPacked is the most segments that one commit makes.
const maxPacked = 8

// packer makes segments. It belongs to the goroutine that commits.
type packer struct {
	squeezer
	raw   []byte  // the entries of a segment
	books *booker // of the last commit with a booking
}

// pack moves the oldest entries that stand alone into segments, in a commit in which a segment
// becomes full. Entries that Prune kept from before its cut stay alone, and so do all entries of
// a segment with a damaged one.
func (c *committer) pack(from cut, before uint64) error {
	if c.head.number/segmentEntries == before/segmentEntries {
		return nil
	}
	segments := c.tx.Bucket(bucketSegments)
	segments.FillPercent = journalFill
	packed := segmentOf(from.number)
	if last, _ := bolt.NewCursor(segments).Last(); len(last) == 8 {
		packed = max(packed, binary.BigEndian.Uint64(last))
	}
	for range maxPacked {
		if c.head.number < packed+segmentEntries {
			return nil
		}
		c.packed = true
		if err := c.packOne(segments, packed, c.hashAt(segments, packed, from)); err != nil {
			return err
		}
		packed += segmentEntries
	}
	return nil
}

// packOne moves the entries after a number into a segment, unless they are damaged or too large.
func (c *committer) packOne(segments *bbolt.Bucket, before uint64, hash []byte) error {
	links, journal := chain{head: head{number: before}}, c.tx.Bucket(bucketJournal)
	copy(links.hash[:], hash)
	p, at, end := c.packer, uint64(0), before+segmentEntries
	p.raw = p.raw[:0]
	cursor := bolt.NewCursor(journal)
	for key, value := cursor.Seek(key64(before + 1)); links.number < end; key, value = cursor.Next() {
		if links.next(key, value) != nil || len(p.raw) > maxSegment {
			return nil
		}
		at = p.add(value, at)
	}
	key := key64(end)
	if err := segments.Put(key, p.row(key, hash, links.hash[:])); err != nil {
		return err
	}
	for number := before + 1; number <= end; number++ {
		if err := journal.Delete(key64(number)); err != nil {
			return err
		}
	}
	return nil
}

// add appends an entry, as it is stored alone, to raw. It takes the time of the entry before and
// returns that of the entry.
func (p *packer) add(stored []byte, before uint64) (at uint64) {
	at = uint64(timeOfKey(stored[sha256.Size:]))
	p.raw = binary.AppendUvarint(p.raw, uint64(len(stored)-entryHead))
	p.raw = binary.AppendVarint(p.raw, int64(at-before))
	p.raw = append(p.raw, stored[entryHead:]...)
	return at
}

// row returns the row of a segment of raw, with both ends of its chain.
func (p *packer) row(key, before, after []byte) []byte {
	row := make([]byte, 0, segmentHead+len(p.raw)/4)
	row = append(append(append(row, segmentVersion), before...), after...)
	return sealRow(p.in.EncodeAll(p.raw, row), key, 0)
}

// hashAt returns the hash of the entry before a segment that is made.
func (c *committer) hashAt(segments *bbolt.Bucket, number uint64, from cut) []byte {
	if number == from.number {
		return from.hash[:] // zero in a file that was never pruned, whose number is 0
	}
	key := key64(number)
	if row := segments.Get(key); len(row) > segmentHead {
		return row[1+sha256.Size : segmentHead]
	}
	if value := c.tx.Bucket(bucketJournal).Get(key); len(value) > sha256.Size {
		return value[:sha256.Size]
	}
	return nil
}
