package journal

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// quartered are the samples of an hour of a curve, made from its minutes.
type quartered struct {
	key     []byte // of the hour's row
	samples []EquitySample
	kept    bool // the row stays as it is: the minutes do not cover the hour, or one is damaged
}

// addQuarters is the migration from format 5, in which the row of an hour has one sample. Hours of
// which all minutes are stored get a sample for each quarter; of older ones no more is known.
func addQuarters(tx *bbolt.Tx) error {
	bucket, n := tx.Bucket(bucketEquity), codec.NewNames(&market.Catalog{}, nil)
	var hours []*quartered
	err := boltfile.ForEach(bucket, func(key, value []byte) error {
		if len(key) < 10 || key[0] != 0 {
			return nil
		}
		h, fresh := hourOf(hours, key)
		if fresh {
			hours = append(hours, h)
		}
		row, err := readEquity(n, key, value)
		if err != nil {
			h.kept = true // Check names the minute
			return nil
		}
		h.samples = tiers[1].merged(h.samples, row[0])
		return nil
	})
	for i, h := range hours {
		first := i == 0 || !bytes.Equal(hours[i-1].curve(), h.curve()) // of its curve: its beginning may be gone
		if err == nil && !first && !h.kept {
			err = bucket.Put(h.key, equityRow(n, h.key, h.samples))
		}
	}
	return err
}

// hourOf returns the hour of a minute's row, which is the last one or a fresh one.
func hourOf(hours []*quartered, minute []byte) (h *quartered, fresh bool) {
	at := timeOfKey(minute[len(minute)-8:])
	key := bytes.Clone(minute)
	key[0] = 1
	key = appendTime(key[:len(key)-8], market.FloorTo(at, market.Time(time.Hour)))
	if len(hours) > 0 && bytes.Equal(hours[len(hours)-1].key, key) {
		return hours[len(hours)-1], false
	}
	return &quartered{key: key}, true
}

// curve is the part of the key that the hours of a curve share.
func (h *quartered) curve() []byte { return h.key[:len(h.key)-8] }
