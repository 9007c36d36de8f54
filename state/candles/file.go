package candles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

const storeFormat = 1

// Open opens the store at path for writing, alone; a missing store is made. It waits a second for
// other processes, then wraps ErrLocked. Another kind of file wraps ErrCorrupt, a newer format
// ErrNewer.
func Open(path string) (*Store, error) { return openFile(path, false) }

// Read opens the store at path for reading, which other processes may do at the same time. A
// missing or empty file wraps ErrNoData; the other errors are those of Open. Damaged pages of
// candles show when they are read: an opening costs the same however many candles are stored.
func Read(path string) (*Store, error) { return openFile(path, true) }

func openFile(path string, readOnly bool) (*Store, error) {
	if err := checkFile(path, readOnly); err != nil {
		return nil, err
	}
	db, err := bolt.Open(context.Background(), path, bolt.Options{ReadOnly: readOnly, Mode: 0o644, Maps: 1,
		Lazy: true})
	if err != nil {
		return nil, explain(path, err)
	}
	s := &Store{db: db, path: path, maxSpool: maxSpool}
	if err := s.prepare(readOnly); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func explain(path string, err error) error {
	return bolt.Explain(path, "candle store", "; stop that one or try again later", err)
}

// checkFile catches the cases that bbolt explains badly: no file, an empty file to read, a folder.
func checkFile(path string, readOnly bool) error {
	info, err := os.Stat(path)
	switch {
	case readOnly && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w: no such file; %s", path, ErrNoData, importHint("BTC-EUR", market.Interval1h))
	case err != nil:
		return nil // opening it says why
	case info.IsDir():
		return fmt.Errorf("%s is a folder; name a file in it, like %s", path, filepath.Join(path, "candles.db"))
	case readOnly && info.Mode().IsRegular() && info.Size() == 0:
		return fmt.Errorf("%s: %w: the file is empty; %s", path, ErrNoData, importHint("BTC-EUR", market.Interval1h))
	}
	return nil
}

func importHint(name string, interval market.Interval) string {
	return fmt.Sprintf("import some with: bot candles import --market %s --interval %s FILE.csv", name, interval)
}

// prepare checks the store's format. It makes the buckets only in a file without any: in a damaged
// file they would hide the damage.
func (s *Store) prepare(readOnly bool) error {
	if readOnly {
		return s.db.View(s.checkFormat)
	}
	err := s.db.Update(func(tx *bbolt.Tx) error {
		if name, _ := tx.Cursor().First(); name != nil {
			return s.checkFormat(tx)
		}
		return makeBuckets(tx)
	})
	if err != nil {
		return err
	}
	return s.sweep()
}

func makeBuckets(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bolt.BucketMeta, bucketMarkets, bucketCandles, bucketCoverage} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return tx.Bucket(bolt.BucketMeta).Put(bolt.KeyFormat, []byte{storeFormat})
}

func (s *Store) checkFormat(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bolt.BucketMeta, bucketMarkets, bucketCandles, bucketCoverage} {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("%s: %w: not a candle store: no %s in it", s.path, bolt.ErrCorrupt, name)
		}
	}
	switch format := tx.Bucket(bolt.BucketMeta).Get(bolt.KeyFormat); {
	case len(format) != 1:
		return fmt.Errorf("%s: %w: format %x, this program reads %d", s.path, bolt.ErrCorrupt, format, storeFormat)
	case format[0] > storeFormat:
		return fmt.Errorf("%s: %w: format %d, this program reads %d; update the program, or name another file", s.path,
			bolt.ErrNewer, format[0], storeFormat)
	case format[0] < storeFormat:
		return fmt.Errorf("%s: %w: format %d, this program reads %d", s.path, bolt.ErrCorrupt, format[0],
			storeFormat)
	}
	return nil
}
