package recording

import (
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// Extent describes the events of a recording.
type Extent struct {
	First, Last uint64      // numbers of events; 0: there are none
	From, To    market.Time // of the first and the last event
	Bytes       int64
	Segments    int
}

// LostError says that events are missing in a recording: they never reached the disk, or they are
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
	segments []segment // still to come
	data     []byte    // the rest of the present one
	unpacker *zstd.Decoder
	events   eventDecoder
	names    *codec.Names
	raw      []byte
	left     uint32 // events of the present block
	number   uint64 // of the next event; 0: not known
	at       market.Time
	from     uint64
}

// Read opens the recording in a folder at the event numbered from, or at its first event if that is
// later. Events are in the units of catalog, which must have all their markets. An empty folder
// wraps ErrNotFound.
func Read(dir string, catalog *market.Catalog, from uint64) (*Reader, error) {
	segments, err := listSegments(dir)
	if err == nil && len(segments) == 0 {
		err = fmt.Errorf("recording %s: %w: it is empty", dir, boltfile.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPayload),
		zstd.IgnoreChecksum(true))
	if err != nil {
		return nil, err
	}
	for len(segments) > 1 && segments[1].first <= from {
		segments = segments[1:]
	}
	return &Reader{segments: segments, unpacker: unpacker, names: codec.NewNames(catalog, nil), from: from}, nil
}

// Next returns the next event and its number. The event and its pointers are valid until the next
// call. At the end it returns io.EOF. A *LostError says that events are missing; the next call
// continues after them. Any other error is final.
func (r *Reader) Next() (number uint64, ev *market.Event, err error) {
	for {
		for r.left == 0 {
			if err := r.open(); err != nil {
				return 0, nil, err
			}
		}
		if ev, err = r.events.next(r.at); err != nil {
			return 0, nil, fmt.Errorf("recorded event %d: %w", r.number, err)
		}
		r.at = ev.At
		number = r.number
		r.number++
		if r.left--; r.left == 0 {
			if err := r.events.checkEnd(); err != nil {
				return 0, nil, fmt.Errorf("recorded event %d: %w", number, err)
			}
		}
		if number >= r.from {
			return number, ev, nil
		}
	}
}

// open opens the next whole block, and skips a block that ends before the wanted event. After a
// *LostError the next call opens the same block.
func (r *Reader) open() error {
	at := findBlock(r.data, 0)
	for at < 0 {
		if len(r.segments) == 0 {
			return io.EOF
		}
		data, err := os.ReadFile(r.segments[0].path)
		if err != nil {
			return err
		}
		r.data, r.segments = data, r.segments[1:]
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
	raw, err := r.unpacker.DecodeAll(b.payload, r.raw[:0])
	if err != nil {
		return fmt.Errorf("recorded events %d to %d: %w: %w", b.first, b.last(), boltfile.ErrCorrupt, err)
	}
	r.data, r.raw = r.data[at+size:], raw
	r.events.Decoder.Open(r.names, raw)
	r.left, r.number, r.at = b.count, b.first, b.from
	return nil
}

// Close frees the reader.
func (r *Reader) Close() { r.unpacker.Close() }

// Describe returns the extent of the recording in a folder. A missing folder has no events.
func Describe(dir string) (x Extent, err error) {
	segments, err := listSegments(dir)
	if os.IsNotExist(err) {
		return x, nil
	}
	for _, s := range segments {
		x.Bytes += s.size
		x.Segments++
	}
	for i := range segments {
		first := func(b *blockInfo) bool { x.First, x.From = b.first, b.from; return false }
		if _, err = eachBlock(segments[i].path, first); err != nil || x.First != 0 {
			break
		}
	}
	for i := len(segments) - 1; i >= 0 && err == nil; i-- {
		var any bool
		any, err = eachBlock(segments[i].path, func(b *blockInfo) bool { x.Last, x.To = b.last(), b.to; return true })
		if any {
			break
		}
	}
	return x, err
}

// eachBlock visits the blocks of a segment until visit returns false, and reports whether there is
// one.
func eachBlock(path string, visit func(*blockInfo) bool) (any bool, err error) {
	data, err := os.ReadFile(path)
	for at := findBlock(data, 0); at >= 0; at = findBlock(data, at) {
		b, size := readBlock(data[at:])
		any = true
		if !visit(&b) {
			break
		}
		at += size
	}
	return any, err
}
