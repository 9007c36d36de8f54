package journal

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// format is the present format of the state file. To change it:
//
//   - A new kind of journal entry: add a number in entry.go, its code in entrycode.go, its words in
//     describe.go. The format stays: an older program refuses an entry of an unknown kind. If that
//     must not happen in the middle of a run, raise the format too.
//   - A new field in a record: raise recordVersion; the decoder reads both. The format stays.
//   - A new bucket, other keys, or another meaning of stored bytes: raise format by one, and let
//     create bring a file of the format before up to date, in its transaction.
//
// Each format has a golden file in testdata, a test that opens it, and a line in CHANGELOG.md.
const format = 1

// formatName begins the text under KeyFormat in meta; the number of the format follows. Files of
// programs before format 1 have four bytes there.
const formatName = "tidemark state "

// checkFormat checks that a file has the present format. fresh: nothing is in the file.
func checkFormat(tx *bbolt.Tx, path string) (fresh bool, err error) {
	meta := tx.Bucket(bolt.BucketMeta)
	if meta == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return false, fmt.Errorf("%s: %w: not a state file: no %s in it", path, bolt.ErrCorrupt,
				bolt.BucketMeta)
		}
		return true, nil
	}
	value := meta.Get(bolt.KeyFormat)
	number, named := bytes.CutPrefix(value, []byte(formatName))
	have, err := strconv.ParseUint(string(number), 10, 32)
	switch {
	case !named && len(value) == 4:
		return false, fmt.Errorf("%s: an older program wrote it; keep that program until its positions are closed, "+
			"then start this one in a new state folder", path)
	case !named && len(value) == 1:
		return false, fmt.Errorf("%s: %w: a candle store, not a state file", path, bolt.ErrCorrupt)
	case !named || err != nil || have == 0:
		return false, fmt.Errorf("%s: %w: meta: its format is %.40q", path, bolt.ErrCorrupt, value)
	case have > format:
		return false, fmt.Errorf("%s: %w: format %d, this program reads %d; update the program, or take the file from "+
			"a backup if no newer program wrote it", path, bolt.ErrNewer, have, format)
	}
	return false, nil
}

// checkBuckets checks that a file has the present format and all its buckets.
func checkBuckets(tx *bbolt.Tx, path string) error {
	if _, err := checkFormat(tx, path); err != nil {
		return err
	}
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("%s: %w: not a state file: no %s in it", path, bolt.ErrCorrupt, name)
		}
	}
	return nil
}

// create makes an empty file one of the present format.
func (s *Store) create() error {
	fresh := false
	err := s.db.View(func(tx *bbolt.Tx) (err error) {
		fresh, err = checkFormat(tx, s.path)
		return err
	})
	if err != nil || !fresh {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		value := strconv.AppendInt([]byte(formatName), format, 10)
		return errors.Join(tx.Bucket(bolt.BucketMeta).Put(bolt.KeyFormat, value), putHead(tx, head{}))
	})
}
