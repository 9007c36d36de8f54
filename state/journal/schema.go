package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// schema is a format of the state file, with the migrations from older ones.
type schema struct {
	format     uint32
	oldest     uint32                              // the first format that a reader understands without a migration
	migrations map[uint32]func(tx *bbolt.Tx) error // from a format to the next
}

// current is the present format of the state file. To change it:
//
//   - A new kind of journal entry: add a number in entry.go, its code in entrycode.go, its words in
//     describe.go. The format stays: an older program refuses an entry of an unknown kind. If that
//     must not happen in the middle of a run, raise the format too.
//   - A new field in a record: raise recordVersion; the decoder reads both. The format stays.
//   - A new bucket, other keys, or another meaning of stored bytes: raise format by one, add the
//     bucket to buckets, and add the migration from the previous format to migrations. apply keeps
//     a copy beside the file (bot.db.formatN), then runs all migrations in one transaction, before
//     anything else reads the file. An older program refuses the file with ErrNewer.
//
// Each new format needs a golden file of the previous one in testdata, a test that opens it, and a
// line in CHANGELOG.md.
//
// Format 2 has segments and stories in rows of many numbers. Format 1 lacks the bucket of segments;
// apart from that its files are files of format 2 in which all entries stand alone, so that they
// can be read as they are. Format 3 has the bucket of kept entries: seals, verdicts and promotions.
// Format 4 has the bucket of bookings, which a reader of an older file finds in the journal. Format
// 5 has entries of reloads: an older program would stop in the middle of a journal that has one.
// Format 6 has entries of the operator's actions, of adoptions and of crosses, a flag of crossed
// fills, bookings of adoptions, and samples of equity by quarter of an hour: a row of format 5 is a
// row of format 6 with one sample, so that it can be read as it is.
var current = schema{format: 6, oldest: 1, migrations: map[uint32]func(tx *bbolt.Tx) error{1: addSegments, 2: addKept,
	3: addBookings, 4: addNothing, 5: addQuarters}}

// since has the first format of each bucket that format 1 lacks.
var since = map[string]uint32{string(bucketSegments): 2, string(bucketKept): 3, string(bucketBookings): 4}

// addSegments is the migration from format 1. The commits that follow pack the older entries, some
// at a time: see committer.pack.
func addSegments(tx *bbolt.Tx) error {
	_, err := tx.CreateBucketIfNotExists(bucketSegments)
	return err
}

// addKept is the migration from format 2.
func addKept(tx *bbolt.Tx) error {
	_, err := tx.CreateBucketIfNotExists(bucketKept)
	return err
}

// addBookings is the migration from format 3. It fills the table from the journal.
func addBookings(tx *bbolt.Tx) error {
	if _, err := tx.CreateBucketIfNotExists(bucketBookings); err != nil {
		return err
	}
	catalog := &market.Catalog{}
	if err := extend(catalog, tx); err != nil {
		return err
	}
	squeezer, err := newSqueezer()
	if err != nil {
		return err
	}
	k, err := bookerOf(tx, squeezer, nil)
	if err != nil {
		return err
	}
	names := codec.NewNames(catalog, nil)
	return derived(context.Background(), tx, names, squeezer, k.write(names))
}

// addNothing is the migration from a format that only lacks kinds of entries.
func addNothing(*bbolt.Tx) error { return nil }

// formatCut is a flag in the format of a pruned file: a program that does not know the flag refuses
// the file as newer.
const formatCut = 1 << 16

// formatOf returns the format of a file, 0 for an empty file.
func formatOf(tx *bbolt.Tx, path string) (uint32, error) {
	meta := tx.Bucket(boltfile.BucketMeta)
	if meta == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return 0, fmt.Errorf("%s: %w: not a state file: no %s in it", path, boltfile.ErrCorrupt,
				boltfile.BucketMeta)
		}
		return 0, nil
	}
	value := meta.Get(boltfile.KeyFormat)
	if len(value) == 1 {
		return 0, fmt.Errorf("%s: %w: a candle store, not a state file", path, boltfile.ErrCorrupt)
	}
	if len(value) != 4 {
		return 0, fmt.Errorf("%s: %w: meta: its format has %d bytes, not 4", path, boltfile.ErrCorrupt,
			len(value))
	}
	return binary.BigEndian.Uint32(value) &^ formatCut, nil
}

// check checks that a file has the present format and all its buckets.
func (s schema) check(tx *bbolt.Tx, path string) error {
	format, err := formatOf(tx, path)
	switch {
	case err != nil:
		return err
	case format > s.format:
		return fmt.Errorf("%s: %w: format %d, this program reads %d; update the program, or take the file from a "+
			"backup if no newer program wrote it", path, boltfile.ErrNewer, format, s.format)
	case format < s.oldest:
		return fmt.Errorf("%s: format %d, this program reads %d; start the bot once, it brings the file up to date",
			path, format, s.format)
	}
	for _, name := range buckets {
		if tx.Bucket(name) == nil && format >= since[string(name)] {
			return fmt.Errorf("%s: %w: not a state file: no %s in it", path, boltfile.ErrCorrupt, name)
		}
	}
	return nil
}

// apply makes an empty file one of the present format, and migrates an older one: it keeps a copy
// first and changes the file in one transaction.
func (s schema) apply(store *Store) error {
	format := uint32(0)
	err := store.db.View(func(tx *bbolt.Tx) (err error) {
		format, err = formatOf(tx, store.path)
		return err
	})
	if err != nil || format >= s.format {
		return err
	}
	if format > 0 {
		if err := store.Backup(fmt.Sprintf("%s.format%d", store.path, format)); err != nil {
			return fmt.Errorf("keep a copy before the format changes: %w", err)
		}
	}
	return store.db.Update(func(tx *bbolt.Tx) error {
		if format == 0 {
			return s.create(tx)
		}
		for ; format < s.format; format++ {
			migrate := s.migrations[format]
			if migrate == nil {
				return fmt.Errorf("%s: no way from format %d to %d; a program between the two knows it", store.path,
					format, s.format)
			}
			if err := migrate(tx); err != nil {
				return fmt.Errorf("%s: from format %d: %w", store.path, format, err)
			}
		}
		return s.stamp(tx)
	})
}

func (s schema) create(tx *bbolt.Tx) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return errors.Join(s.stamp(tx), putHead(tx, head{}))
}

func (s schema) stamp(tx *bbolt.Tx) error {
	format := s.format
	if tx.Bucket(boltfile.BucketMeta).Get(keyCut) != nil {
		format |= formatCut
	}
	return tx.Bucket(boltfile.BucketMeta).Put(boltfile.KeyFormat, binary.BigEndian.AppendUint32(nil, format))
}
