package journal

import (
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// schema is a format of the state file and the way to it from older ones.
type schema struct {
	format     uint32
	migrations map[uint32]func(tx *bbolt.Tx) error // from a format to the next
}

// current is the present format of the state file. What changes it:
//
//   - A new kind of journal entry: a number in entry.go, its code in entrycode.go, its words in
//     describe.go. The format stays: an older program refuses the entry as of an unknown kind.
//     Where that must not happen in the middle of a run, raise the format too.
//   - A field more in a record: raise recordVersion; its decoder reads both. The format stays.
//   - A bucket more, other keys, another meaning of what is there: raise format by one, name the
//     bucket in buckets, and put the way from the format before into migrations. apply keeps a copy
//     beside the file (bot.db.formatN), then does all migrations in one transaction, before
//     anything else reads the file. An older program refuses the file with ErrNewer.
//
// Each raise takes a golden file of the format before in testdata, a test that opens it, and a line
// inMarket CHANGELOG.md.
var current = schema{format: 1}

// formatCut is set in the format of a file that was pruned: programs that do not know of it call
// the file newer than they are.
const formatCut = 1 << 16

// formatOf is 0 for an empty file.
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
		return 0, fmt.Errorf("%s: %w: meta: its format is written in %d bytes, not 4", path, boltfile.ErrCorrupt,
			len(value))
	}
	return binary.BigEndian.Uint32(value) &^ formatCut, nil
}

// check wants the present format and all its buckets.
func (s schema) check(tx *bbolt.Tx, path string) error {
	format, err := formatOf(tx, path)
	switch {
	case err != nil:
		return err
	case format > s.format:
		return fmt.Errorf("%s: %w: format %d, this program reads %d; update the program, or take the file from a "+
			"backup if no newer program wrote it", path, boltfile.ErrNewer, format, s.format)
	case format < s.format:
		return fmt.Errorf("%s: format %d, this program reads %d; start the bot once, it brings the file up to date",
			path, format, s.format)
	}
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("%s: %w: not a state file: no %s in it", path, boltfile.ErrCorrupt, name)
		}
	}
	return nil
}

// apply makes an empty file one of the present format, and brings an older one to it: a copy is
// kept first, and the change is one transaction, so that it has happened or has not.
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
