package candles

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// WriteReport counts what a write did to a series.
type WriteReport struct {
	Added     int64 // new candles
	Unchanged int64 // stored before with the same values
	Kept      int64 // stored before with other values, which stay
	Replaced  int64 // stored before with other values, now overwritten
	Ended     int64 // stored before it had ended, now overwritten
	Widened   int64 // stored before, of a market that now has more decimals; their bytes stay

	PriceDigits, VolumeDigits uint8 // of the market, afterwards
}

// WriteOptions are the series to write to and the treatment of its stored candles.
type WriteOptions struct {
	Market   string // BASE-QUOTE
	Interval market.Interval
	Replace  bool // candles with other values are overwritten; otherwise the stored ones stay and are counted
	// Goes: a candle that goes on from the last stored one overwrites it, because that one may have
	// been stored before it had ended.
	Goes bool

	// PriceDigits and VolumeDigits are the fewest decimals that the market has afterwards. It gets
	// more if the data needs them, and never loses any.
	PriceDigits, VolumeDigits uint8
}

func (o *WriteOptions) check() error {
	if err := CheckMarketName(o.Market); err != nil {
		return err
	}
	if o.Interval < market.Interval1m || o.Interval > market.Interval1M {
		return fmt.Errorf("interval %d is not an interval", o.Interval)
	}
	if o.PriceDigits > market.MaxDigits || o.VolumeDigits > market.MaxDigits {
		return fmt.Errorf("%d price and %d volume decimals: at most %d", o.PriceDigits, o.VolumeDigits,
			market.MaxDigits)
	}
	return nil
}

// Put stores candles, in any order. Their prices and volumes have the given decimals; Put ignores
// their Market and Interval. complete are the ranges for which the source is complete: a candle
// missing in them had no trade. The call fails, and stores nothing, if two candles of one start
// have different values, or a candle is impossible. It is one transaction.
func (s *Store) Put(o WriteOptions, candles []market.Candle, priceDigits, volumeDigits uint8,
	complete []Range) (report WriteReport, err error) {
	if err := o.check(); err != nil {
		return report, fmt.Errorf("store candles: %w", err)
	}
	var clash error
	l := s.newLoader(o.Interval, func(c *market.Candle, _ int64) {
		clash = fmt.Errorf("store candles of %s %s: two with different values start at %s", o.Market, o.Interval,
			c.Start)
	})
	defer func() { err = errors.Join(err, l.close()) }()
	l.priceDigits, l.volumeDigits = priceDigits, volumeDigits
	for i := range candles {
		c := candles[i]
		c.Market, c.Interval, c.Late = 0, o.Interval, false
		if err := checkCandle(&c); err != nil {
			return report, fmt.Errorf("store candles of %s %s: candle %s: %w", o.Market, o.Interval, c.Start, err)
		}
		if err := l.add(&c, o.Interval.Index(c.Start), 0); err != nil {
			return report, err
		}
	}
	if err := l.finish(); err != nil || clash != nil {
		return report, errors.Join(err, clash)
	}
	return s.commit(o, l, complete)
}

// checkCandle is market.Candle.Check, and checks the year too.
func checkCandle(c *market.Candle) error {
	if c.Start < minCandleTime || c.Start >= maxCandleTime {
		return fmt.Errorf("start %s lies outside the years 1700 to 2199", c.Start)
	}
	return c.Check()
}

// commit writes the candles of the loader: in one transaction, or beside the stored series if they
// are many.
func (s *Store) commit(o WriteOptions, l *loader, complete []Range) (WriteReport, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	w := &chunkWriter{store: s, options: o, loader: l}
	err := s.db.View(w.decideDigits)
	switch {
	case err != nil:
	case l.spool.spilled():
		err = s.commitBeside(w, complete)
	default:
		err = s.db.Update(func(tx *bbolt.Tx) error {
			if err := w.writeAll(tx); err != nil {
				return err
			}
			return w.finish(tx, complete)
		})
	}
	if err != nil {
		return WriteReport{}, s.seriesError(o.Market, o.Interval, err)
	}
	return w.report, nil
}

// chunkWriter merges loaded chunks into those of a series.
type chunkWriter struct {
	store   *Store
	options WriteOptions
	loader  *loader
	report  WriteReport
	packer  chunkPacker
	stored  openChunk
	candles []market.Candle // of the loaded chunk
	last    market.Time     // start of the last candle that was stored before; 0: none was
}

// decideDigits decides the market's decimals. If they grow, it checks that all stored and new
// candles still fit.
func (w *chunkWriter) decideDigits(tx *bbolt.Tx) error {
	price, volume := w.loader.neededDigits(w.options.PriceDigits, w.options.VolumeDigits)
	name := w.options.Market
	known := tx.Bucket(bucketMarkets).Get([]byte(name)) != nil
	if known {
		havePrice, haveVolume, err := marketDigits(tx, name)
		if err != nil {
			return err
		}
		price, volume = max(price, havePrice), max(volume, haveVolume)
		if price > havePrice || volume > haveVolume {
			if err := w.widen(tx, price, volume); err != nil {
				return err
			}
		}
	}
	w.report.PriceDigits, w.report.VolumeDigits = price, volume
	if chunks := tx.Bucket(bucketCandles).Bucket(seriesKey(name, w.options.Interval)); chunks != nil {
		if err := w.store.db.CheckKeys(chunks, nil, nil); err != nil {
			return explain(w.store.path, err)
		}
		span, err := spanOf(chunks, w.options.Interval)
		if err != nil {
			return err
		}
		w.last = w.options.Interval.Floor(span.To - 1)
	}
	return w.checkFits(price, volume)
}

// finish writes the facts of the market and the series beside its chunks.
func (w *chunkWriter) finish(tx *bbolt.Tx, complete []Range) error {
	digits := []byte{w.report.PriceDigits, w.report.VolumeDigits}
	if err := tx.Bucket(bucketMarkets).Put([]byte(w.options.Market), digits); err != nil {
		return err
	}
	return addCoverage(tx, w.options.Market, w.options.Interval, complete)
}

func (w *chunkWriter) checkFits(price, volume uint8) error {
	l := w.loader
	if _, err := market.Rescale(int64(l.maxPrice), l.priceDigits, max(price, l.priceDigits)); err != nil {
		return fmt.Errorf("highest price: %w", err)
	}
	if _, err := market.Rescale(int64(l.maxVolume), l.volumeDigits, max(volume, l.volumeDigits)); err != nil {
		return fmt.Errorf("largest volume: %w", err)
	}
	return nil
}

// widen checks that every stored candle of the market fits the new decimals, and counts these
// candles. Their chunks do not change.
func (w *chunkWriter) widen(tx *bbolt.Tx, price, volume uint8) error {
	all := tx.Bucket(bucketCandles)
	return bolt.ForEachBucket(all, func(key []byte) error {
		name, interval, err := parseSeriesKey(key)
		if err != nil || name != w.options.Market {
			return err
		}
		return walkChunks(all.Bucket(key), interval, Range{}, func(h *chunkHeader, value []byte) error {
			w.report.Widened += int64(h.rows)
			return w.stored.load(interval, h.number, value, price, volume)
		})
	})
}

func (w *chunkWriter) writeAll(tx *bbolt.Tx) error {
	loaded := w.loader.spool.chunks
	if len(loaded) == 0 {
		return nil
	}
	chunks, err := tx.Bucket(bucketCandles).CreateBucketIfNotExists(seriesKey(w.options.Market, w.options.Interval))
	if err != nil {
		return err
	}
	for _, number := range sortedKeys(loaded) {
		stored := chunks.Get(chunkKey(number))
		value, err := w.merge(number, stored, loaded[number])
		if err != nil {
			return err
		}
		if stored != nil && bytes.Equal(stored, value) {
			continue
		}
		if err := chunks.Put(chunkKey(number), value); err != nil {
			return err
		}
	}
	return nil
}

// merge counts the candles of a loaded chunk and returns the chunk to store. stored is nil if the
// series has no such chunk. The result is valid as long as the loader; that of one which has
// spilled, until the next call.
func (w *chunkWriter) merge(number int64, stored []byte, chunk *loadedChunk) ([]byte, error) {
	packed, err := w.loader.spool.packed(chunk)
	switch {
	case err != nil:
		return nil, err
	case stored == nil:
		w.report.Added += int64(chunk.head.rows)
		return packed, nil
	case bytes.Equal(stored, packed): // equal bytes are equal candles
		w.report.Unchanged += int64(chunk.head.rows)
		return packed, nil
	}
	price, volume, interval := w.report.PriceDigits, w.report.VolumeDigits, w.options.Interval
	if err := w.stored.load(interval, number, stored, price, volume); err != nil {
		return nil, err
	}
	if w.candles, err = decodeChunk(w.candles[:0], interval, number, packed, price, volume); err != nil {
		return nil, chunkError(interval, number, err)
	}
	for i := range w.candles {
		w.mergeOne(&w.candles[i])
	}
	return slices.Clone(w.packer.pack(w.stored.candles(), interval, price, volume)), nil
}

func (w *chunkWriter) mergeOne(c *market.Candle) {
	_, offset := chunkOf(w.options.Interval.Index(c.Start))
	switch {
	case !w.stored.has(offset):
		w.report.Added++
	case w.stored.rows[offset] == *c:
		w.report.Unchanged++
		return
	case !w.options.Replace && w.options.Goes && w.endsNow(&w.stored.rows[offset], c):
		w.report.Ended++
	case !w.options.Replace:
		w.report.Kept++
		return
	default:
		w.report.Replaced++
	}
	w.stored.put(c, offset)
}

// endsNow reports whether a stored candle had not ended when it was stored, and c is what became of
// it: it is the last one of its series, and c goes on from it. A trade that moves the close has a
// volume, where volumes are known.
func (w *chunkWriter) endsNow(stored, c *market.Candle) bool {
	return stored.Start == w.last && stored.Open == c.Open && stored.High <= c.High && stored.Low >= c.Low &&
		(stored.Volume < c.Volume || c.Volume == 0 && stored.Volume == 0)
}

func sortedKeys[V any](m map[int64]V) []int64 { return slices.Sorted(maps.Keys(m)) }
