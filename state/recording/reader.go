package recording

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// Extent describes the records of a recording.
type Extent struct {
	First, Last uint64      // numbers of records; 0: there are none
	From, To    market.Time // of the first and the last record
	Bytes       int64
	Segments    int
}

// LostError says that records are missing in a recording: they never reached the disk, or they are
// damaged there. Reading continues after them.
type LostError struct {
	From, To uint64 // numbers
}

// Error gives the numbers of the events.
func (e *LostError) Error() string {
	return fmt.Sprintf("the recording lacks events %d to %d", e.From, e.To)
}

// Reader reads a recording in order, even while it is written: it ends with the last block that is
// whole when it arrives there.
type Reader struct {
	more     func() ([]byte, error) // the next blocks; io.EOF: there are none
	all      []segment              // where more reads segments …
	segments []segment              // … those still to come
	data     []byte                 // the rest of the present one
	unpacker *zstd.Decoder
	events   eventDecoder
	names    *codec.Names
	raw      [streams][]byte
	left     uint32 // events of the present block
	number   uint64 // of the next record; 0: not known
	at       market.Time
	from     uint64      // records before it are skipped …
	since    market.Time // … and those before the first one of this time
}

// Read opens the recording in a folder at the record numbered from, or at its first one if that is
// later. Records are in the units of catalog, which must have all their markets, and of strategies
// with these names. An empty folder wraps ErrNotFound.
func Read(dir string, catalog *market.Catalog, strategies []string, from uint64) (*Reader, error) {
	segments, err := listSegments(dir)
	if err == nil && len(segments) == 0 {
		err = fmt.Errorf("recording %s: %w: it is empty", dir, bolt.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	r, err := ReadBlocks(nil)
	if err != nil {
		return nil, err
	}
	r.all = segments
	for len(segments) > 1 && segments[1].first <= from {
		segments = segments[1:]
	}
	r.segments, r.more, r.names, r.from = segments, r.segment, codec.NewNames(catalog, strategies), from
	return r, nil
}

// ReadBlocks reads the records of blocks that come one by one (Options.Tee), as Read does those of
// a folder. more returns the next of them, valid until it is called again, and io.EOF behind the
// last. Bind gives their units.
func ReadBlocks(more func() ([]byte, error)) (*Reader, error) {
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPayload),
		zstd.IgnoreChecksum(true))
	if err != nil {
		return nil, err
	}
	return &Reader{more: more, unpacker: unpacker, names: codec.NewNames(&market.Catalog{}, nil),
		since: math.MinInt64}, nil
}

// segment is the content of the next segment.
func (r *Reader) segment() ([]byte, error) {
	if len(r.segments) == 0 {
		return nil, io.EOF
	}
	path := r.segments[0].path
	r.segments = r.segments[1:]
	return os.ReadFile(path)
}

// Bind gives the records that follow other markets and strategies: those of the process of which
// the latest record was the KindStart.
func (r *Reader) Bind(catalog *market.Catalog, strategies []string) {
	r.names = codec.NewNames(catalog, strategies)
	r.events.Names = r.names
}

// Next returns the next record and its number. The record and its pointers are valid until the next
// call. At the end it returns io.EOF. A *LostError says that records are missing; the next call
// continues after them. Any other error is final, unless SkipBlock follows.
func (r *Reader) Next() (number uint64, rec *Record, err error) {
	for {
		for r.left == 0 {
			if err := r.open(); err != nil {
				return 0, nil, err
			}
		}
		if rec, err = r.events.next(r.at); err != nil {
			return 0, nil, fmt.Errorf("record %d: %w", r.number, err)
		}
		r.at = rec.Time()
		number = r.number
		r.number++
		if r.left--; r.left == 0 {
			if err := r.events.checkEnd(); err != nil {
				return 0, nil, fmt.Errorf("record %d: %w", number, err)
			}
		}
		if number >= r.from && r.at >= r.since {
			r.since = math.MinInt64
			return number, rec, nil
		}
	}
}

// open opens the next whole block, and skips a block that ends before the wanted event. After a
// *LostError the next call opens the same block.
func (r *Reader) open() error {
	at := findBlock(r.data, 0)
	for at < 0 {
		data, err := r.more()
		if err != nil {
			return err
		}
		r.data = data
		at = findBlock(r.data, 0)
	}
	b, size := readBlock(r.data[at:])
	if expected := max(r.number, r.from); r.number != 0 && b.first > expected {
		r.number = b.first
		return &LostError{From: expected, To: b.first - 1}
	}
	if b.last() < r.from {
		r.data, r.number = r.data[at+size:], b.last()+1
		return nil
	}
	r.data = r.data[at+size:]
	if b.unpack(&r.raw, r.unpacker) != nil {
		return nil // damaged, although its checksum fits: the next block tells of the loss
	}
	r.events.open(r.names, r.raw)
	r.left, r.number, r.at = b.count, b.first, b.from
	return nil
}

// SkipBlock leaves out the rest of a block, after an error of Next about one of its records, and
// returns the records that it left out; nil: there were none.
func (r *Reader) SkipBlock() *LostError {
	if r.left == 0 {
		return nil
	}
	from := r.number
	r.number += uint64(r.left)
	r.left = 0
	return &LostError{From: from, To: r.number - 1}
}

// Close frees the reader.
func (r *Reader) Close() { r.unpacker.Close() }
