package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// segmentEntries is the number of entries in a segment. The first segment has the entries 1 to 256.
const segmentEntries = 256

// A segment is 256 entries of the journal in one row of bucketSegments. Its key is the number of
// its last entry. Its row is
//
//	1   version of the row: segmentVersion
//	32  hash of the entry before its first one
//	32  hash of its last entry
//	…   its entries, compressed with zstd
//	4   checksum of the row
//
// Of each entry there is the length from the kind on, the time since the entry before, and the
// bytes from the kind on. The hash of an entry follows from its bytes and the hash before.
const (
	segmentVersion = 1
	segmentHead    = 1 + 2*sha256.Size
	maxSegment     = 64 << 20 // bytes of the entries of a segment; if they are more, they stay alone
)

// squeezer compresses and restores the entries of segments. Any goroutine may use it.
type squeezer struct {
	in  *zstd.Encoder
	out *zstd.Decoder
}

func newSqueezer() (s squeezer, err error) {
	s.in, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(segmentWindow), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return s, fmt.Errorf("compress segments: %w", err)
	}
	s.out, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSegment))
	if err != nil {
		return s, fmt.Errorf("restore segments: %w", err)
	}
	return s, nil
}

// segmentWindow is the distance in bytes at which the compression sees that something comes again:
// most segments are smaller.
const segmentWindow = 256 << 10

// segmentOf returns the number of the last entry of the segment that an entry belongs to.
func segmentOf(number uint64) uint64 {
	return (number + segmentEntries - 1) / segmentEntries * segmentEntries
}

// segment is a segment that was read.
type segment struct {
	last   uint64 // number of its last entry; 0: nothing was read
	raw    []byte // the entries, not compressed
	stored []byte // the entries, each as it is stored alone, behind what head.seal leaves in front
	ends   [segmentEntries + 1]int
}

// read unpacks a row and checks it and its part of the chain.
func (g *segment) read(key, row []byte, s squeezer) error {
	g.last = 0
	body, err := openRow(key, row)
	switch {
	case err != nil:
		return err
	case len(key) != 8 || segmentOf(binary.BigEndian.Uint64(key)) != binary.BigEndian.Uint64(key) ||
		binary.BigEndian.Uint64(key) == 0:
		return fmt.Errorf("%w: no segment ends there", bolt.ErrCorrupt)
	case len(body) < segmentHead:
		return fmt.Errorf("%w: %d bytes", bolt.ErrCorrupt, len(body))
	case body[0] > segmentVersion:
		return fmt.Errorf("%w: segment of version %d, this program reads %d; update the program", bolt.ErrNewer,
			body[0], segmentVersion)
	}
	if g.raw, err = s.out.DecodeAll(body[segmentHead:], g.raw[:0]); err != nil {
		return fmt.Errorf("%w: %w", bolt.ErrCorrupt, err)
	}
	last := binary.BigEndian.Uint64(key)
	before := head{number: last - segmentEntries, hash: [sha256.Size]byte(body[1:])}
	if err := g.unpack(before, body[1+sha256.Size:segmentHead]); err != nil {
		return err
	}
	g.last = last
	return nil
}

// unpack turns raw into entries as they are stored alone.
func (g *segment) unpack(chain head, after []byte) error {
	g.stored = g.stored[:0]
	raw, at := g.raw, uint64(0)
	for i := range segmentEntries {
		length, n := binary.Uvarint(raw)
		passed, m := binary.Varint(raw[max(n, 0):])
		if n <= 0 || m <= 0 || length > uint64(len(raw)-n-m) {
			return fmt.Errorf("%w: it ends in entry %d of %d", bolt.ErrCorrupt, i+1, segmentEntries)
		}
		at += uint64(passed)
		from := len(g.stored)
		g.stored = appendTime(append(g.stored, make([]byte, entryFront)...), market.Time(at))
		g.stored = append(g.stored, raw[n+m:n+m+int(length)]...)
		raw = raw[n+m+int(length):]
		chain.seal(g.stored[from:])
		g.ends[i+1] = len(g.stored)
	}
	if len(raw) > 0 || !bytes.Equal(chain.hash[:], after) {
		return fmt.Errorf("%w: its entries do not lead from its first hash to its last", bolt.ErrCorrupt)
	}
	return nil
}

// entry returns one of the entries that were read, as it is stored alone.
func (g *segment) entry(number uint64) []byte {
	i := number - (g.last - segmentEntries) - 1
	return g.stored[g.ends[i]+entryFront-sha256.Size : g.ends[i+1] : g.ends[i+1]]
}
