package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// entries reads the journal by number: entries that stand alone in bucketJournal, and those in
// segments. What it hands out looks the same for both: hash, time, kind, version, content. It is
// valid until the next call.
type entries struct {
	tx       *bbolt.Tx
	alone    *bbolt.Bucket
	segments *bbolt.Bucket
	squeezer squeezer
	segment  segment // read last
	number   [8]byte

	// damaged is called with a segment that cannot be read, before the walk goes on behind it; nil:
	// the walk ends with the error.
	damaged func(key, row []byte, err error) error
}

func (s *Store) entriesOf(tx *bbolt.Tx) *entries {
	return &entries{tx: tx, alone: tx.Bucket(bucketJournal), segments: tx.Bucket(bucketSegments),
		squeezer: s.packer.squeezer}
}

// get returns an entry, nil for none.
func (e *entries) get(number uint64) ([]byte, error) {
	key := key64(number)
	if value := e.alone.Get(key); value != nil {
		return value, nil
	}
	key = key64(segmentOf(number))
	row := e.segments.Get(key)
	if row == nil {
		return nil, nil
	}
	if err := e.read(key, row); err != nil {
		return nil, err
	}
	return e.segment.entry(number), nil
}

// has reports whether there is an entry of a number.
func (e *entries) has(number uint64) bool {
	return e.alone.Get(key64(number)) != nil || e.segments.Get(key64(segmentOf(number))) != nil
}

// read unpacks a segment, unless it is the one that was read last.
func (e *entries) read(key, row []byte) error {
	if e.segment.last != 0 && e.segment.last == binary.BigEndian.Uint64(key) {
		return nil
	}
	if err := e.segment.read(key, row, e.squeezer); err != nil {
		return fmt.Errorf("%s: %w", segmentName(key), err)
	}
	return nil
}

// segmentName names a segment by its entries.
func segmentName(key []byte) string {
	if len(key) != 8 {
		return "journal entries " + bolt.FormatKey(key)
	}
	last := binary.BigEndian.Uint64(key)
	return fmt.Sprintf("journal entries %d to %d", last-min(last, segmentEntries)+1, last)
}

// forward calls visit with the entries from a number on, in order, until visit returns an error,
// which forward returns, or ctx ends. It releases the pages that it read.
func (e *entries) forward(ctx context.Context, from uint64, visit func(key, value []byte) error) error {
	w := e.walk(ctx, false)
	first := key64(from)
	w.key, w.value = w.alone.Seek(first)
	w.last, w.row = w.segments.Seek(first)
	return w.run(from, visit)
}

// back is forward from the last entry to the first.
func (e *entries) back(ctx context.Context, visit func(key, value []byte) error) error {
	w := e.walk(ctx, true)
	w.key, w.value = w.alone.Last()
	w.last, w.row = w.segments.Last()
	return w.run(0, visit)
}

// entryWalk is a walk over all entries, with the next one that stands alone and the next segment.
type entryWalk struct {
	*entries
	ctx             context.Context
	back            bool
	alone, segments *bolt.Cursor
	key, value      []byte
	last, row       []byte
}

func (e *entries) walk(ctx context.Context, back bool) *entryWalk {
	return &entryWalk{entries: e, ctx: ctx, back: back, alone: bolt.NewCursor(e.alone),
		segments: bolt.NewCursor(e.segments)}
}

func (w *entryWalk) run(from uint64, visit func(key, value []byte) error) error {
	release := bolt.NewReleaser(w.tx)
	defer release.Flush()
	for n := 1; w.key != nil || w.last != nil; n++ {
		if n%contextEvery == 0 && w.ctx.Err() != nil {
			return fmt.Errorf("read the journal: %w", w.ctx.Err())
		}
		if w.segmentNext() {
			if err := w.visitSegment(from, visit); err != nil {
				return err
			}
			n |= contextEvery - 1 // the next step looks at ctx
			release.Consumed(w.row)
			w.last, w.row = w.step(w.segments)
			continue
		}
		if err := visit(w.key, w.value); err != nil {
			return err
		}
		release.Consumed(w.value)
		w.key, w.value = w.step(w.alone)
	}
	return nil
}

// segmentNext reports whether the next segment comes before the next entry that stands alone.
func (w *entryWalk) segmentNext() bool {
	return w.last != nil && (w.key == nil || bytes.Compare(w.key, w.last) > 0 != w.back)
}

func (w *entryWalk) step(c *bolt.Cursor) (key, value []byte) {
	if w.back {
		return c.Prev()
	}
	return c.Next()
}

// visitSegment calls visit with the entries of the next segment from a number on.
func (w *entryWalk) visitSegment(from uint64, visit func(key, value []byte) error) error {
	if err := w.read(w.last, w.row); err != nil {
		if w.damaged != nil {
			return w.damaged(w.last, w.row, err)
		}
		return err
	}
	last := w.segment.last
	first := max(from, last-segmentEntries+1)
	for i := range last - first + 1 {
		number := first + i
		if w.back {
			number = last - i
		}
		binary.BigEndian.PutUint64(w.number[:], number)
		if err := visit(w.number[:], w.segment.entry(number)); err != nil {
			return err
		}
	}
	return nil
}
