package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Removed counts what Prune removed.
type Removed struct {
	Entries, Orders, Fills int64
}

// Prune writes a file like Compact, but without orders that ended before a time, their fills and
// stories, and without journal entries before that time. It keeps everything younger, and
// positions, bookings, halts, runs, seals, verdicts, promotions, equity and snapshots of any age.
// It also keeps an old order with its whole story if the order is open, waits for a fee, or belongs
// to an open position: it is of the position's strategy and market, and not older than the
// position.
//
// The journal's chain continues from the last removed entry, whose hash is kept. The numbers of
// removed orders are not used again. A store with flaws is not pruned: the error wraps ErrCorrupt.
func (s *Store) Prune(path string, before market.Time) (removed Removed, err error) {
	report, err := s.Check()
	if err == nil && len(report.Flaws) > 0 {
		err = fmt.Errorf("%s: %d flaws, the first: %s: %w", s.path, len(report.Flaws), report.Flaws[0],
			bolt.ErrCorrupt)
	}
	if err != nil {
		return removed, err
	}
	err = s.rewrite(path, func(into *bbolt.DB) error {
		return s.db.View(func(tx *bbolt.Tx) error {
			p := pruner{store: s, from: tx, dropped: map[market.OrderID]bool{}, kept: map[uint64]bool{},
				aging: aging{tx: tx, names: s.names, before: before}}
			err := p.run(into)
			removed = p.removed
			return err
		})
	})
	return removed, err
}

// pruner copies a state file without the removed rows.
type pruner struct {
	store *Store
	from  *bbolt.Tx
	old   cut // of the file before
	cut   cut
	aging
	dropped map[market.OrderID]bool // orders that are removed
	kept    map[uint64]bool         // entries before the cut that stay
	removed Removed
	into    copier
}

func (p *pruner) run(into *bbolt.DB) error {
	p.into = copier{db: into}
	defer p.into.drop()
	for _, step := range [...]func() error{p.findCut, p.findHeld, p.sortOrders, p.copyJournal, p.copyOrders,
		p.copyLists, p.copyRest} {
		if err := step(); err != nil {
			return err
		}
	}
	return p.into.end(func(tx *bbolt.Tx) error {
		return p.cut.put(tx)
	})
}

// findCut finds the last journal entry that only older entries precede.
func (p *pruner) findCut() (err error) {
	defer func() { p.last = p.cut.number }()
	if p.old, err = cutOf(p.from); err != nil {
		return err
	}
	p.cut = p.old
	errStop := errors.New("young enough")
	err = p.store.entriesOf(p.from).forward(p.store.reading, p.old.number+1, func(key, value []byte) error {
		if timeOfKey(value[sha256.Size:]) >= p.before {
			return errStop
		}
		p.cut.number, p.cut.hash = binary.BigEndian.Uint64(key), [sha256.Size]byte(value)
		return nil
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// sortOrders decides which orders are removed, and which old entries stay for the other orders.
func (p *pruner) sortOrders() error {
	return bolt.ForEach(p.from.Bucket(bucketOrders), func(key, value []byte) error {
		switch {
		case isRow(key):
			row, err := readOrder(p.store.names, key, value)
			if err != nil {
				return err
			}
			finished, err := p.finished(&row)
			if err == nil && finished {
				p.dropped[row.ID] = true
				p.cut.orders = max(p.cut.orders, row.ID)
				p.removed.Orders++
			}
			return err
		case key[8] == partStory && !p.dropped[orderOfKey(key)] &&
			has(p.from.Bucket(bucketOrders), part(key[:8], partRow, nil)):
			numbers, err := appendStory(nil, key, value)
			for _, number := range numbers {
				if number <= p.cut.number {
					p.kept[number] = true
				}
			}
			return err
		}
		return nil
	})
}

// copyJournal copies the entries after the cut, the old entries that stay, and the checkpoints that
// either needs.
func (p *pruner) copyJournal() error {
	if p.cut.number > 0 {
		if err := p.into.put(bucketCheckpoints, key64(p.cut.number), p.cut.hash[:]); err != nil {
			return err
		}
	}
	if err := p.copyOld(); err != nil {
		return err
	}
	young := func(key, _ []byte) bool { return binary.BigEndian.Uint64(key) > p.alone() }
	return cmp.Or(p.copy(bucketJournal, young), p.copy(bucketSegments, young),
		p.copy(bucketCheckpoints, func(key, _ []byte) bool { return binary.BigEndian.Uint64(key) > p.cut.number }))
}

// alone is the last entry that the new file has outside of segments because its segment has the
// cut.
func (p *pruner) alone() uint64 { return segmentOf(p.cut.number) }

// copyOld copies the old entries that stay, with the hashes before them as checkpoints, and the
// rest of the segment in which the cut is.
func (p *pruner) copyOld() error {
	errStop := errors.New("behind the segment of the cut")
	checkpoints := p.from.Bucket(bucketCheckpoints)
	var before []byte // hash of the previous entry in the file
	var last uint64
	err := p.store.entriesOf(p.from).forward(p.store.reading, 0, func(key, value []byte) error {
		number := binary.BigEndian.Uint64(key)
		known := before
		if last+1 != number {
			known = bytes.Clone(checkpoints.Get(key64(number - 1)))
		}
		before, last = bytes.Clone(value[:sha256.Size]), number
		switch {
		case number > p.alone():
			return errStop
		case number > p.cut.number:
		case !p.kept[number]:
			p.removed.Entries++
			return nil
		case number > 1 && !p.kept[number-1]:
			if err := p.into.put(bucketCheckpoints, key64(number-1), known); err != nil {
				return err
			}
		}
		return p.into.put(bucketJournal, key, bytes.Clone(value))
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// copyOrders copies the orders that stay, their index entries and their fills.
func (p *pruner) copyOrders() error {
	err := bolt.ForEach(p.from.Bucket(bucketOrders), func(key, value []byte) error {
		key, value, err := p.partLeft(key, value)
		if key == nil || err != nil {
			return err
		}
		return p.into.put(bucketOrders, key, value)
	})
	err = cmp.Or(err, p.copy(bucketExchangeIDs, func(_, order []byte) bool { return !p.dropped[orderOfKey(order)] }))
	return cmp.Or(err, p.copy(bucketFills, func(key, _ []byte) bool {
		if gone := p.dropped[orderOfKey(key[8:])]; gone {
			p.removed.Fills++
			return false
		}
		return true
	}))
}

// partLeft returns what stays of a part of an order, nil for nothing. Of a story without an order,
// the entries before the cut are removed.
func (p *pruner) partLeft(key, value []byte) (_, left []byte, err error) {
	switch {
	case p.dropped[orderOfKey(key)]:
		return nil, nil, nil
	case key[8] != partStory || binary.BigEndian.Uint64(key[9:]) > p.cut.number ||
		has(p.from.Bucket(bucketOrders), part(key[:8], partRow, nil)):
		return key, value, nil
	}
	return storyLeft(key, value, func(number uint64) bool { return number <= p.cut.number })
}

// storyLeft returns what stays of a row of a story, nil for nothing.
func storyLeft(key, value []byte, goes func(number uint64) bool) (_, left []byte, err error) {
	numbers, err := appendStory(nil, key, value)
	numbers = slices.DeleteFunc(numbers, goes)
	if err != nil || len(numbers) == 0 {
		return nil, nil, err
	}
	for i := range numbers[1:] {
		left = binary.AppendUvarint(left, numbers[i+1]-numbers[i])
	}
	return part(key[:8], partStory, key64(numbers[0])), left, nil
}

// copyLists copies the lists of client order ids without the removed orders. It keeps the last list
// even if it is empty: its key says where the orders without a list begin.
func (p *pruner) copyLists() error {
	last, _ := bolt.NewCursor(p.from.Bucket(bucketClientIDs)).Last()
	last = bytes.Clone(last)
	return bolt.ForEach(p.from.Bucket(bucketClientIDs), func(key, value []byte) error {
		var list []byte
		for at := 0; at+idEntry <= len(value); at += idEntry {
			if entry := value[at : at+idEntry]; !p.dropped[orderOfKey(entry[16:])] && p.has(orderOfKey(entry[16:])) {
				list = append(list, entry...)
			}
		}
		if len(list) == 0 && !bytes.Equal(key, last) {
			return nil
		}
		return p.into.put(bucketClientIDs, key, sealRow(list, key, 0))
	})
}

// copyRest copies the buckets that do not change.
func (p *pruner) copyRest() error {
	for _, bucket := range [...][]byte{bolt.BucketMeta, bucketOpen, bucketPositions, bucketBlobs, bucketCursors,
		bucketHalts, bucketEquity, bucketRuns, bucketUnits, bucketKept, bucketBookings} {
		if err := p.copy(bucket, func(_, _ []byte) bool { return true }); err != nil {
			return err
		}
	}
	return nil
}

func (p *pruner) copy(bucket []byte, stays func(key, value []byte) bool) error {
	release := bolt.NewReleaser(p.from)
	defer release.Flush()
	return bolt.ForEach(p.from.Bucket(bucket), func(key, value []byte) error {
		defer release.Consumed(value)
		if !stays(key, value) {
			return nil
		}
		return p.into.put(bucket, key, value)
	})
}
