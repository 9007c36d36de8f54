package candles

import (
	"bytes"
	"fmt"
	"runtime/debug"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// VerifyReport counts what Verify read and lists the problems that it found.
type VerifyReport struct {
	Series, Chunks, Candles int64
	Listings                int64 // days of recorded markets
	Problems                []Problem
}

// Problem is a fault in the store. A problem of a whole series, or of the whole file, has a zero
// Range.
type Problem struct {
	Market   string
	Interval market.Interval
	Chunk    int64
	Range    Range // of the chunk
	Err      error
}

// String names the place and the problem.
func (p *Problem) String() string {
	switch {
	case p.Market == "":
		return p.Err.Error()
	case p.Range == Range{}:
		return fmt.Sprintf("%s %s: %v", p.Market, p.Interval, p.Err)
	}
	return fmt.Sprintf("%s %s chunk %d (%s to %s): %v", p.Market, p.Interval, p.Chunk, p.Range.From, p.Range.To, p.Err)
}

// Verify decodes the whole store and reports its problems: checksums, content hashes, order,
// impossible candles, decimals beyond the market's, chunks that differ from their candles packed
// again, complete ranges, and the pages of the file. The error is nil if all series were read,
// whatever problems were found. It does not use bbolt's own check of pages, which panics on a
// damaged page in a goroutine of its own.
func (s *Store) Verify() (VerifyReport, error) {
	v := verifier{store: s}
	err := s.db.View(func(tx *bbolt.Tx) error {
		return bolt.ForEachBucket(tx.Bucket(bucketCandles), func(key []byte) error {
			v.series(tx, key)
			return nil
		})
	})
	if err == nil {
		err = s.db.View(func(tx *bbolt.Tx) error {
			v.note(Problem{}, v.listings(tx))
			return nil
		})
	}
	if err == nil && len(v.report.Problems) == 0 {
		if err := s.db.CheckRest(); err != nil {
			v.note(Problem{}, explain(s.path, err))
		}
	}
	return v.report, err
}

// listings checks the records of markets.
func (v *verifier) listings(tx *bbolt.Tx) (err error) {
	defer bolt.CatchCorrupt(v.store.path, &err, debug.SetPanicOnFault(true))
	listings, err := v.store.listings(tx)
	if listings == nil || err != nil {
		return err
	}
	return listings.ForEach(func(key, value []byte) error {
		v.report.Listings++
		day, err := chunkNumber(key)
		if err == nil {
			_, err = unpackListingOf(day, value)
		}
		v.note(Problem{}, v.store.listingError(day, err))
		return nil
	})
}

type verifier struct {
	store   *Store
	report  VerifyReport
	packer  chunkPacker
	candles []market.Candle // of a chunk
}

// series checks one series. A page that cannot be read ends this series only.
func (v *verifier) series(tx *bbolt.Tx, key []byte) {
	v.report.Series++
	name, interval, err := parseSeriesKey(key)
	if err != nil {
		v.report.Problems = append(v.report.Problems, Problem{Err: err})
		return
	}
	p := Problem{Market: name, Interval: interval}
	v.note(p, v.chunks(tx, p))
	_, err = coverage(tx, name, interval)
	v.note(p, err)
}

func (v *verifier) note(p Problem, err error) {
	if err != nil {
		p.Err = err
		v.report.Problems = append(v.report.Problems, p)
	}
}

func (v *verifier) chunks(tx *bbolt.Tx, p Problem) (err error) {
	defer bolt.CatchCorrupt(v.store.path, &err, debug.SetPanicOnFault(true))
	price, volume, err := marketDigits(tx, p.Market)
	if err != nil {
		return err
	}
	chunks, err := v.store.chunks(tx, p.Market, p.Interval, Range{})
	if err != nil {
		return err
	}
	pages := bolt.NewReleaser(tx)
	defer pages.Flush()
	cursor := bolt.NewCursor(chunks)
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		v.report.Chunks++
		number, err := chunkNumber(key)
		if err != nil {
			v.note(p, err)
			continue
		}
		p.Chunk, p.Range = number, chunkRange(p.Interval, number)
		v.note(p, v.chunk(p.Interval, number, value, price, volume))
		pages.Consumed(value)
	}
	return nil
}

func (v *verifier) chunk(interval market.Interval, number int64, value []byte, price, volume uint8) error {
	candles, err := decodeChunk(v.candles[:0], interval, number, value, price, volume)
	v.candles = candles
	if err != nil {
		return err
	}
	if err := checkChunkHash(value); err != nil {
		return err
	}
	for i := range candles {
		if err := checkCandle(&candles[i]); err != nil {
			return fmt.Errorf("%w: candle %s: %w", bolt.ErrCorrupt, candles[i].Start, err)
		}
		if i > 0 && candles[i].Start <= candles[i-1].Start {
			return fmt.Errorf("%w: candle %s is out of order", bolt.ErrCorrupt, candles[i].Start)
		}
	}
	if !bytes.Equal(v.packer.pack(candles, interval, price, volume), value) {
		return fmt.Errorf("%w: its candles pack to other bytes", bolt.ErrCorrupt)
	}
	v.report.Candles += int64(len(candles))
	return nil
}
