package candles

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Piece names a record of a store: the candles of a chunk, the decimals of a market, the gaps of a
// series, or what an exchange listed on a day.
type Piece struct {
	Table  string // as the store calls it
	Series string // of a chunk: "BTC-EUR 1h"; empty elsewhere
	Key    []byte
}

// Pieces calls each with all records of some markets, nil being all, and with all records of
// exchanges. Record and key are valid until each returns. Stores of the same pieces, made by
// Assemble, hold the same candles, gaps and records.
func (s *Store) Pieces(markets []string, each func(p Piece, record []byte) error) error {
	wanted := func(name string) bool { return markets == nil || slices.Contains(markets, name) }
	return s.db.View(func(tx *bbolt.Tx) error {
		err := bolt.ForEach(tx.Bucket(bucketMarkets), func(name, record []byte) error {
			if !wanted(string(name)) {
				return nil
			}
			return each(Piece{Table: string(bucketMarkets), Key: name}, record)
		})
		if err != nil {
			return err
		}
		err = bolt.ForEach(tx.Bucket(bucketCoverage), func(key, record []byte) error {
			if name, _, _ := strings.Cut(string(key), " "); !wanted(name) {
				return nil
			}
			return each(Piece{Table: string(bucketCoverage), Key: key}, record)
		})
		if err != nil {
			return err
		}
		listings, err := s.listings(tx)
		if err != nil {
			return err
		}
		if listings != nil {
			err = bolt.ForEach(listings, func(key, record []byte) error {
				return each(Piece{Table: string(bucketListings), Key: key}, record)
			})
			if err != nil {
				return err
			}
		}
		return s.chunkPieces(tx, wanted, each)
	})
}

// chunkPieces calls each with the chunks of the wanted markets.
func (s *Store) chunkPieces(tx *bbolt.Tx, wanted func(string) bool, each func(Piece, []byte) error) error {
	candles := tx.Bucket(bucketCandles)
	return bolt.ForEachBucket(candles, func(key []byte) error {
		name, interval, err := parseSeriesKey(key)
		if err != nil || !wanted(name) {
			return err
		}
		chunks, err := s.chunks(tx, name, interval, Range{})
		if err != nil {
			return err
		}
		return bolt.ForEach(chunks, func(number, record []byte) error {
			return each(Piece{string(bucketCandles), string(key), number}, record)
		})
	})
}

// Record calls read with the record of a piece, valid until read returns. The error wraps ErrNoData
// if the store has none.
func (s *Store) Record(p Piece, read func(record []byte) error) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte(p.Table))
		if bucket != nil && p.Series != "" {
			bucket = bucket.Bucket([]byte(p.Series))
		}
		if bucket != nil {
			if record := bucket.Get(p.Key); record != nil {
				return read(record)
			}
		}
		return fmt.Errorf("%s: %s %s %x: %w", s.path, p.Table, p.Series, p.Key, ErrNoData)
	})
}

// assembled is how many bytes of records go into one transaction of Assemble.
const assembled = 16 << 20

// Assemble makes a store of pieces at a path without a file. record gives the content of a piece;
// it has to be whole, since a chunk alone is checked when it is read. A kill leaves no file at the
// path.
func Assemble(path string, pieces []Piece, record func(i int) ([]byte, error)) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.part") // two may do it at once
	if err != nil {
		return fmt.Errorf("assemble %s: %w", path, err)
	}
	beside := file.Name()
	s, err := Open(beside)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("assemble %s: %w", path, err), os.Remove(beside))
	}
	for i := 0; i < len(pieces) && err == nil; {
		err = s.db.Update(func(tx *bbolt.Tx) error {
			for size := 0; i < len(pieces) && size < assembled; i++ {
				content, err := record(i)
				if err != nil {
					return err
				}
				size += len(content)
				if err := putPiece(tx, &pieces[i], content); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err = errors.Join(err, s.Close()); err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("assemble %s: %w", path, err), os.Remove(beside))
	}
	return nil
}

// putPiece writes a record.
func putPiece(tx *bbolt.Tx, p *Piece, content []byte) error {
	var bucket *bbolt.Bucket
	var err error
	switch table := []byte(p.Table); {
	case bytes.Equal(table, bucketCandles) && p.Series != "":
		if _, _, err = parseSeriesKey([]byte(p.Series)); err == nil {
			bucket, err = tx.Bucket(bucketCandles).CreateBucketIfNotExists([]byte(p.Series))
		}
	case p.Series == "" && (bytes.Equal(table, bucketMarkets) || bytes.Equal(table, bucketCoverage)):
		bucket = tx.Bucket(table)
	case p.Series == "" && bytes.Equal(table, bucketListings):
		bucket, err = tx.CreateBucketIfNotExists(table)
	default:
		err = fmt.Errorf("a store has no table %q", p.Table)
	}
	if err != nil {
		return err
	}
	return bucket.Put(p.Key, content)
}
