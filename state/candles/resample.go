package candles

import (
	"errors"
	"fmt"
	"io"

	"github.com/tidemark-trading/tidemark/market"
)

// ResampleOptions are the source and the target of Resample.
type ResampleOptions struct {
	Market   string
	From, To market.Interval // From must divide To
	Replace  bool            // overwrite stored candles of To that have other values
}

// Resample makes longer candles of shorter ones as the exchange does: each bucket has the open of
// the first candle, the highest high, the lowest low, the close of the last and the sum of volumes.
// A bucket without candles gives no candle. A bucket at either end is made only if it lies whole
// between the first start and the last end of the source, or within a complete range: a candle of
// half a bucket would be wrong. Where the source is complete, so is the result. It is one
// transaction; intervals that do not divide, a missing source and a volume that overflows are
// errors.
func (s *Store) Resample(o ResampleOptions) (WriteReport, error) {
	if !o.From.Divides(o.To) {
		return WriteReport{}, fmt.Errorf("resample %s: candles of %s do not make candles of %s", o.Market, o.From, o.To)
	}
	info, err := s.Series(o.Market, o.From)
	if err != nil {
		return WriteReport{}, fmt.Errorf("resample: %w", err)
	}
	complete, err := s.Complete(o.Market, o.From)
	if err != nil {
		return WriteReport{}, fmt.Errorf("resample: %w", err)
	}
	r := s.newResampler(o, &info, complete)
	report, err := s.resample(r, o, &info, complete)
	return report, errors.Join(err, r.load.close())
}

func (s *Store) resample(r *resampler, o ResampleOptions, info *Series, complete []Range) (WriteReport, error) {
	if err := s.feed(r, info); err != nil {
		return WriteReport{}, fmt.Errorf("resample %s %s: %w", o.Market, o.From, err)
	}
	if err := r.load.finish(); err != nil {
		return WriteReport{}, err
	}
	w := WriteOptions{Market: o.Market, Interval: o.To, Replace: o.Replace, PriceDigits: info.PriceDigits,
		VolumeDigits: info.VolumeDigits}
	return s.commit(w, r.load, r.completeBuckets(complete))
}

func (s *Store) feed(r *resampler, info *Series) error {
	m := &market.Market{Name: info.Market, PriceDigits: info.PriceDigits, VolumeDigits: info.VolumeDigits}
	reader, err := s.Read(ReadOptions{Market: m, Interval: info.Interval})
	if err != nil {
		return err
	}
	defer reader.Close()
	for {
		candles, err := reader.Next()
		if err == io.EOF {
			return r.flush()
		}
		if err != nil {
			return err
		}
		for i := range candles {
			if err := r.add(&candles[i]); err != nil {
				return err
			}
		}
	}
}

// resampler folds candles into buckets.
type resampler struct {
	to     market.Interval
	bounds Range // only buckets inside are whole
	bucket market.Candle
	end    market.Time // of the bucket
	open   bool
	load   *loader
}

func (s *Store) newResampler(o ResampleOptions, info *Series, complete []Range) *resampler {
	r := &resampler{to: o.To, bounds: Range{info.First, info.End()}}
	for _, known := range complete {
		if known.From <= info.First && info.First < known.To {
			r.bounds.From = known.From
		}
		if known.From < info.End() && info.End() <= known.To {
			r.bounds.To = known.To
		}
	}
	r.load = s.newLoader(o.To, func(*market.Candle, int64) {}) // each bucket is added once
	r.load.priceDigits, r.load.volumeDigits = info.PriceDigits, info.VolumeDigits
	return r
}

func (r *resampler) add(c *market.Candle) (err error) {
	if r.open && c.Start < r.end {
		b := &r.bucket
		b.High, b.Low, b.Close = max(b.High, c.High), min(b.Low, c.Low), c.Close
		if b.Volume, err = market.Add(b.Volume, c.Volume); err != nil {
			return fmt.Errorf("volume of the %s candle at %s: %w", r.to, b.Start, err)
		}
		return nil
	}
	if err := r.flush(); err != nil {
		return err
	}
	r.bucket, r.open = *c, true
	r.bucket.Start, r.bucket.Interval = r.to.Floor(c.Start), r.to
	r.end = r.bucket.End()
	return nil
}

// flush adds the open bucket to the loader if it is whole.
func (r *resampler) flush() error {
	if !r.open {
		return nil
	}
	r.open = false
	if r.bucket.Start < r.bounds.From || r.end > r.bounds.To {
		return nil
	}
	return r.load.add(&r.bucket, r.to.Index(r.bucket.Start), 0)
}

// completeBuckets shortens the source's complete ranges to whole buckets.
func (r *resampler) completeBuckets(source []Range) (complete []Range) {
	for _, known := range source {
		whole := Range{ceilStart(r.to, known.From), r.to.Floor(known.To)}
		if whole.From < whole.To {
			complete = append(complete, whole)
		}
	}
	return complete
}
