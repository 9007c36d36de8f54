package journal

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// EquitySample is the equity of a strategy, or of the account, at a time, in the account's
// currency. A curve is thinned with age: one sample a minute for two days, one each quarter of an
// hour for three years, then one a day. Days begin at a quarter of an hour in every time zone, so
// that the equity at the ends of each day stays. The last sample of a span represents it, with the
// lowest and the highest equity of the whole span, so that no drawdown is lost.
type EquitySample struct {
	Strategy  string // name; empty: the account
	At        market.Time
	Equity    market.Money
	Low, High market.Money // of the span; a new sample may leave them 0
	Exposure  market.Money // value of positions and open buys
}

// tier is one resolution of the curves: a sample for each span. A row of the table has the samples
// of one row, which is one span or some.
type tier struct {
	row, span, keep market.Duration // keep 0: for good
}

var tiers = [...]tier{
	{time.Minute, time.Minute, 48 * time.Hour},
	{time.Hour, 15 * time.Minute, 3 * 365 * 24 * time.Hour},
	{24 * time.Hour, 24 * time.Hour, 0},
}

// equityKey returns tier, strategy, 0: the key without the start of the row.
func equityKey(tier int, strategy string) []byte {
	return append(append([]byte{byte(tier)}, strategy...), 0)
}

func addEquity(tx *bbolt.Tx, n *codec.Names, sample *EquitySample) error {
	bucket, fresh := tx.Bucket(bucketEquity), *sample
	if fresh.Low == 0 && fresh.High == 0 {
		fresh.Low, fresh.High = fresh.Equity, fresh.Equity
	}
	for i, t := range tiers {
		prefix := equityKey(i, sample.Strategy)
		if err := t.add(bucket, n, prefix, fresh); err != nil {
			return err
		}
		if t.keep == 0 {
			continue
		}
		// the next tier takes over a row at a time: its first samples would be hidden otherwise
		end := market.FloorTo(sample.At.Add(-t.keep), market.Time(tiers[i+1].row))
		if err := pruneEquity(bucket, prefix, end); err != nil {
			return err
		}
	}
	return nil
}

// add puts a sample into its row.
func (t tier) add(bucket *bbolt.Bucket, n *codec.Names, prefix []byte, sample EquitySample) error {
	key := appendTime(prefix, market.FloorTo(sample.At, market.Time(t.row)))
	var row []EquitySample
	if value := bucket.Get(key); value != nil {
		var err error
		if row, err = readEquity(n, key, value); err != nil {
			return err
		}
	}
	return bucket.Put(key, equityRow(n, key, t.merged(row, sample)))
}

// merged returns the samples of a row with a new one, which takes the place of that of its span.
func (t tier) merged(row []EquitySample, sample EquitySample) []EquitySample {
	span := func(at market.Time) market.Time { return market.FloorTo(at, market.Time(t.span)) }
	at, taken := slices.BinarySearchFunc(row, span(sample.At), func(have EquitySample, want market.Time) int {
		return cmp.Compare(span(have.At), want)
	})
	if !taken {
		return slices.Insert(row, at, sample)
	}
	sample.Low, sample.High = min(sample.Low, row[at].Low), max(sample.High, row[at].High)
	row[at] = sample
	return row
}

// pruneEquity deletes the rows of a curve before a time.
func pruneEquity(bucket *bbolt.Bucket, prefix []byte, before market.Time) error {
	end := appendTime(bytes.Clone(prefix), before)
	cursor := bolt.NewCursor(bucket)
	key, _ := cursor.Seek(prefix)
	for key != nil && bytes.Compare(key, end) < 0 {
		if err := cursor.Delete(); err != nil {
			return err
		}
		key, _ = cursor.SeekAfter(bytes.Clone(key))
	}
	return nil
}

// figures are the numbers of a sample as its row has them.
func (s *EquitySample) figures() [5]*int64 {
	return [...]*int64{(*int64)(&s.At), (*int64)(&s.Equity), (*int64)(&s.Low), (*int64)(&s.High),
		(*int64)(&s.Exposure)}
}

// equityRow returns the row of some samples: each number less that of the sample before.
func equityRow(n *codec.Names, key []byte, samples []EquitySample) []byte {
	e := recordEncoder{Encoder: codec.Encoder{Names: n}}
	e.Byte(recordVersion)
	var last EquitySample
	for i := range samples {
		before := last.figures()
		for j, number := range samples[i].figures() {
			e.Int(*number - *before[j])
		}
		last = samples[i]
	}
	return sealRow(e.Buf, key, 0)
}

// readEquity reads the samples of a row, of which there is at least one; key is tier, strategy, 0,
// start of the row.
func readEquity(n *codec.Names, key, value []byte) (samples []EquitySample, err error) {
	if len(key) < 10 {
		return nil, fmt.Errorf("equity %s: %w", bolt.FormatKey(key), bolt.ErrCorrupt)
	}
	var d recordDecoder
	d.row(n, key, value)
	d.version()
	last := EquitySample{Strategy: string(key[1 : len(key)-9])}
	for more := true; more && d.Err() == nil; more = d.Left() > 0 {
		for _, number := range last.figures() {
			*number += d.Int()
		}
		samples = append(samples, last)
	}
	if err := d.End(); err != nil {
		return nil, fmt.Errorf("equity %s: %w", bolt.FormatKey(key), err)
	}
	return samples, nil
}

// Equity returns the curve of a strategy by name, or of the account for an empty name, in [from,
// to), where 0 is no bound. Each part has the finest resolution that is stored.
func (s *Store) Equity(strategy string, from, to market.Time) (curve []EquitySample, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		until := to
		for i := range tiers {
			part, err := s.equityTier(tx, i, strategy, from, until)
			if err != nil {
				return err
			}
			if len(part) > 0 {
				until = part[0].At
				curve = append(part, curve...)
			}
		}
		return nil
	})
	return curve, err
}

func (s *Store) equityTier(tx *bbolt.Tx, tier int, strategy string, from, to market.Time) (part []EquitySample,
	err error) {
	prefix := equityKey(tier, strategy)
	first := prefix
	if from != 0 {
		first = appendTime(bytes.Clone(prefix), market.FloorTo(from, market.Time(tiers[tier].row)))
	}
	cursor := bolt.NewCursor(tx.Bucket(bucketEquity))
	for key, value := cursor.Seek(first); bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
		row, err := readEquity(s.names, key, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
		if len(part)+len(row) > cap(part) {
			part = slices.Grow(part, max(64, len(part))) // a slice alone would grow by a quarter
		}
		for i := range row {
			if at := row[i].At; (at >= from || from == 0) && (at < to || to == 0) {
				part = append(part, row[i])
			}
		}
		if to != 0 && row[len(row)-1].At >= to {
			break
		}
	}
	return part, nil
}
