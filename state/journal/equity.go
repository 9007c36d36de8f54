package journal

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// EquitySample is the equity of a strategy, or of the account, at a time, in the account's
// currency. A curve is thinned with age: one sample a minute for two days, one an hour for three
// years, then one a day. The last sample of a span represents it, with the lowest and the highest
// equity of the whole span, so that no drawdown is lost.
type EquitySample struct {
	Strategy  string // name; empty: the account
	At        market.Time
	Equity    market.Money
	Low, High market.Money // of the span; a new sample may leave them 0
	Exposure  market.Money // value of positions and open buys
}

// tier is one resolution of the curves.
type tier struct {
	span, keep market.Duration // keep 0: for good
}

var tiers = [...]tier{{time.Minute, 48 * time.Hour}, {time.Hour, 3 * 365 * 24 * time.Hour}, {24 * time.Hour, 0}}

// equityKey returns tier, strategy, 0: the key without the start of the span.
func equityKey(tier int, strategy string) []byte {
	return append(append([]byte{byte(tier)}, strategy...), 0)
}

func addEquity(tx *bbolt.Tx, n *codec.Names, sample *EquitySample) error {
	bucket := tx.Bucket(bucketEquity)
	for i, t := range tiers {
		prefix := equityKey(i, sample.Strategy)
		merged := *sample
		if merged.Low == 0 && merged.High == 0 {
			merged.Low, merged.High = merged.Equity, merged.Equity
		}
		key := appendTime(prefix, market.FloorTo(sample.At, market.Time(t.span)))
		if value := bucket.Get(key); value != nil {
			have, err := readEquity(n, key, value)
			if err != nil {
				return err
			}
			merged.Low, merged.High = min(merged.Low, have.Low), max(merged.High, have.High)
		}
		e := recordEncoder{Encoder: codec.Encoder{Names: n}}
		e.equity(&merged)
		if err := bucket.Put(key, sealRow(e.Buf, key, 0)); err != nil {
			return err
		}
		if err := t.prune(bucket, prefix, sample.At); err != nil {
			return err
		}
	}
	return nil
}

// prune deletes the samples that are too old for the tier.
func (t tier) prune(bucket *bbolt.Bucket, prefix []byte, now market.Time) error {
	if t.keep == 0 {
		return nil
	}
	end := appendTime(bytes.Clone(prefix), now.Add(-t.keep))
	cursor := boltfile.NewCursor(bucket)
	key, _ := cursor.Seek(prefix)
	for key != nil && bytes.Compare(key, end) < 0 {
		if err := cursor.Delete(); err != nil {
			return err
		}
		key, _ = cursor.SeekAfter(bytes.Clone(key))
	}
	return nil
}

func (e *recordEncoder) equity(s *EquitySample) {
	e.Byte(recordVersion)
	e.Int(int64(s.At))
	for _, n := range [...]market.Money{s.Equity, s.Low, s.High, s.Exposure} {
		e.Int(int64(n))
	}
}

// readEquity reads a sample; key is tier, strategy, 0, start of the span.
func readEquity(n *codec.Names, key, value []byte) (s EquitySample, err error) {
	if len(key) < 10 {
		return s, fmt.Errorf("equity %s: %w", boltfile.FormatKey(key), boltfile.ErrCorrupt)
	}
	var d recordDecoder
	d.row(n, key, value)
	d.version()
	s.Strategy = string(key[1 : len(key)-9])
	s.At = market.Time(d.Int())
	for _, into := range [...]*market.Money{&s.Equity, &s.Low, &s.High, &s.Exposure} {
		*into = market.Money(d.Int())
	}
	if err := d.End(); err != nil {
		return s, fmt.Errorf("equity %s: %w", boltfile.FormatKey(key), err)
	}
	return s, nil
}

// Equity returns the curve of a strategy by name, or of the account for an empty name, in [from,
// to), where 0 is no bound. Each part has the finest resolution that is stored.
func (s *Store) Equity(strategy string, from, to market.Time) (curve []EquitySample, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		until := to
		for i := range tiers {
			part, err := s.equityTier(tx, equityKey(i, strategy), from, until)
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

func (s *Store) equityTier(tx *bbolt.Tx, prefix []byte, from, to market.Time) (part []EquitySample, err error) {
	cursor := boltfile.NewCursor(tx.Bucket(bucketEquity))
	for key, value := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
		sample, err := readEquity(s.names, key, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
		if to != 0 && sample.At >= to {
			break
		}
		if sample.At >= from || from == 0 {
			part = append(part, sample)
		}
	}
	return part, nil
}
