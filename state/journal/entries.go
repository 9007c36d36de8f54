package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// entries reads the journal by number: entries that stand alone in bucketJournal, and those in
// segments. What it hands out looks the same for both: hash, time, kind, version, content. It is
// valid until the next call.
type entries struct {
	tx       *bbolt.Tx
	alone    *bbolt.Bucket
	segments *bbolt.Bucket // nil: a file of format 1 has none
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
	if value := e.alone.Get(key); value != nil || e.segments == nil {
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
	return e.alone.Get(key64(number)) != nil || e.segments != nil && e.segments.Get(key64(segmentOf(number))) != nil
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
		return "journal entries " + boltfile.FormatKey(key)
	}
	last := binary.BigEndian.Uint64(key)
	return fmt.Sprintf("journal entries %d to %d", last-min(last, segmentEntries)+1, last)
}

// inSegment calls visit with an entry of a segment.
func (e *entries) inSegment(number uint64, visit func(key, value []byte) error) error {
	binary.BigEndian.PutUint64(e.number[:], number)
	return visit(e.number[:], e.segment.entry(number))
}

// forward calls visit with the entries from a number on, in order, until visit returns an error,
// which forward returns, or ctx ends. It releases the pages that it read.
func (e *entries) forward(ctx context.Context, from uint64, visit func(key, value []byte) error) error {
	w := e.walk(ctx)
	defer w.release.Flush()
	w.key, w.value = w.alone.Seek(key64(from))
	if w.segments != nil {
		w.last, w.row = w.segments.Seek(key64(from))
	}
	for w.more() {
		if w.last == nil || w.key != nil && bytes.Compare(w.key, w.last) < 0 {
			if err := visit(w.key, w.value); err != nil {
				return err
			}
			w.release.Consumed(w.value)
			w.key, w.value = w.alone.Next()
			continue
		}
		known, err := w.open()
		for number := max(from, e.segment.last-segmentEntries+1); known && number <= e.segment.last &&
			err == nil; number++ {
			err = e.inSegment(number, visit)
		}
		if err != nil {
			return err
		}
		w.release.Consumed(w.row)
		w.last, w.row = w.segments.Next()
	}
	return w.err()
}

// back is forward from the last entry to the first.
func (e *entries) back(ctx context.Context, visit func(key, value []byte) error) error {
	w := e.walk(ctx)
	defer w.release.Flush()
	w.key, w.value = w.alone.Last()
	if w.segments != nil {
		w.last, w.row = w.segments.Last()
	}
	for w.more() {
		if w.last == nil || w.key != nil && bytes.Compare(w.key, w.last) > 0 {
			if err := visit(w.key, w.value); err != nil {
				return err
			}
			w.release.Consumed(w.value)
			w.key, w.value = w.alone.Prev()
			continue
		}
		known, err := w.open()
		for number := e.segment.last; known && number > e.segment.last-segmentEntries && err == nil; number-- {
			err = e.inSegment(number, visit)
		}
		if err != nil {
			return err
		}
		w.release.Consumed(w.row)
		w.last, w.row = w.segments.Prev()
	}
	return w.err()
}

// entryWalk is a walk over all entries, with the next one that stands alone and the next segment.
type entryWalk struct {
	*entries
	ctx             context.Context
	release         boltfile.Releaser
	alone, segments *boltfile.Cursor
	key, value      []byte
	last, row       []byte
	steps           int
}

func (e *entries) walk(ctx context.Context) *entryWalk {
	w := &entryWalk{entries: e, ctx: ctx, release: boltfile.NewReleaser(e.tx), alone: boltfile.NewCursor(e.alone)}
	if e.segments != nil {
		w.segments = boltfile.NewCursor(e.segments)
	}
	return w
}

// more reports whether the walk has not ended.
func (w *entryWalk) more() bool {
	w.steps++
	return (w.key != nil || w.last != nil) && (w.steps%contextEvery != 0 || w.ctx.Err() == nil)
}

// err is the error of a walk that ended because its context did.
func (w *entryWalk) err() error {
	if (w.key != nil || w.last != nil) && w.ctx.Err() != nil {
		return fmt.Errorf("read the journal: %w", w.ctx.Err())
	}
	return nil
}

// open unpacks the next segment. It reports false for a damaged one that the walk steps over.
func (w *entryWalk) open() (known bool, err error) {
	w.steps |= contextEvery - 1 // the next step looks whether ctx has ended
	if err = w.read(w.last, w.row); err != nil && w.damaged != nil {
		return false, w.damaged(w.last, w.row, err)
	}
	return err == nil, err
}
