package candles

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

var (
	bucketMarkets  = []byte("markets")  // name → price and volume decimals
	bucketCandles  = []byte("candles")  // series key → bucket of chunks
	bucketCoverage = []byte("coverage") // series key → complete ranges
)

// Store keeps candles of many markets and intervals in one file. A market and an interval together
// are a series; all series of a market share its decimals, which only ever grow. Every change is
// one transaction: after a crash it has happened or it has not. A Reader holds a transaction: close
// it before a write through the same store.
type Store struct {
	db       *bolt.File
	path     string
	maxSpool int // of a loader

	writing   sync.Mutex // held by a write, which may be several transactions
	committed func()     // unless nil, called after each transaction of a large write
}

// Series describes the stored candles of one market and interval.
type Series struct {
	Market                    string
	Interval                  market.Interval
	PriceDigits, VolumeDigits uint8       // of the market
	First, Last               market.Time // starts of the first and the last candle
	Candles                   int64
	Chunks                    int64
	Bytes                     int64 // packed, heads included
	NoTrade                   int64 // missing between First and Last because nothing traded
	Unknown                   int64 // missing between First and Last for an unknown reason
}

// End returns the end (exclusive) of the last candle.
func (s *Series) End() market.Time { return s.Interval.End(s.Last) }

// Close releases the file. It waits for open readers.
func (s *Store) Close() error { return s.db.Close() }

// Path returns the path the store was opened with.
func (s *Store) Path() string { return s.path }

// Digits returns the decimals of a market's prices and volumes, which fit every candle of it. A
// market that was never stored wraps ErrNoData.
func (s *Store) Digits(name string) (priceDigits, volumeDigits uint8, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		priceDigits, volumeDigits, err = marketDigits(tx, name)
		return err
	})
	return priceDigits, volumeDigits, err
}

// Part describes the candles of a series in a range of time.
type Part struct {
	Range                           // from the start of its first candle to the end of its last one; none: zero
	PriceDigits, VolumeDigits uint8 // the fewest decimals that fit its prices and volumes
}

// Part describes the candles of a series that start in [from, to); zero is no bound. It reads the
// heads of the chunks, and candles only in the two chunks at the ends of the range. If there is no
// series, it wraps ErrNoData.
func (s *Store) Part(name string, interval market.Interval, from, to market.Time) (part Part, err error) {
	span := Range{from, to}
	err = s.db.View(func(tx *bbolt.Tx) error {
		chunks, err := s.chunks(tx, name, interval, span)
		if err != nil {
			return err
		}
		err = walkChunks(chunks, interval, span, func(h *chunkHeader, value []byte) error {
			return part.add(h, value, span)
		})
		if err != nil {
			return s.seriesError(name, interval, err)
		}
		return nil
	})
	return part, err
}

// add adds the candles of a chunk that start in span.
func (p *Part) add(h *chunkHeader, value []byte, span Range) error {
	have := Part{Range{h.interval.StartOf(h.firstIndex()), h.interval.StartOf(h.lastIndex() + 1)}, 0, 0}
	none := true
	whole, err := partOf(h, value, span, func(candles []market.Candle) {
		if none {
			have.From, none = candles[0].Start, false
		}
		have.To = candles[len(candles)-1].End()
		drop, dropVolume := spareDigits(candles, h.priceDigits, h.volumeDigits)
		have.PriceDigits = max(have.PriceDigits, h.priceDigits-drop)
		have.VolumeDigits = max(have.VolumeDigits, h.volumeDigits-dropVolume)
	})
	switch {
	case whole:
		have.PriceDigits, have.VolumeDigits = h.priceDigits, h.volumeDigits
	case err != nil || none:
		return err
	}
	if p.Range == (Range{}) {
		p.From = have.From
	}
	p.To = have.To
	p.PriceDigits, p.VolumeDigits = max(p.PriceDigits, have.PriceDigits), max(p.VolumeDigits, have.VolumeDigits)
	return nil
}

// Span returns the start of the first candle of a series and the end of the last one. It reads no
// other candle, so its cost does not grow with the series. If there is none, it wraps ErrNoData,
// with a hint for the import.
func (s *Store) Span(name string, interval market.Interval) (span Range, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		if _, err := s.chunks(tx, name, interval, Range{To: minCandleTime}); err != nil {
			return err
		}
		chunks, err := s.chunks(tx, name, interval, Range{From: maxCandleTime})
		if err != nil {
			return err
		}
		if span, err = spanOf(chunks, interval); err != nil {
			return s.seriesError(name, interval, err)
		}
		return nil
	})
	return span, err
}

// Series describes one series. It reads the head of every chunk; use Span if the range is enough.
// If there is no series, it wraps ErrNoData, with a hint for the import.
func (s *Store) Series(name string, interval market.Interval) (info Series, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		info, err = s.describe(tx, name, interval)
		return err
	})
	return info, err
}

// List describes every series, by market, then from the shortest interval.
func (s *Store) List() (list []Series, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		return bolt.ForEachBucket(tx.Bucket(bucketCandles), func(key []byte) error {
			name, interval, err := parseSeriesKey(key)
			if err != nil {
				return err
			}
			info, err := s.describe(tx, name, interval)
			list = append(list, info)
			return err
		})
	})
	slices.SortFunc(list, func(a, b Series) int {
		return cmp.Or(strings.Compare(a.Market, b.Market), cmp.Compare(a.Interval, b.Interval))
	})
	return list, err
}

// describe fills a Series from the heads of its chunks; only chunks with holes are decoded.
func (s *Store) describe(tx *bbolt.Tx, name string, interval market.Interval) (info Series, err error) {
	info = Series{Market: name, Interval: interval}
	chunks, err := s.chunks(tx, name, interval, Range{})
	if err != nil {
		return info, err
	}
	if info.PriceDigits, info.VolumeDigits, err = marketDigits(tx, name); err != nil {
		return info, err
	}
	gaps := gapCounter{}
	err = walkSeries(chunks, interval, Range{}, func(run Range) error {
		return gaps.add(run, interval)
	}, func(h *chunkHeader, bytes int) { info.count(h, bytes) })
	if err != nil {
		return info, s.seriesError(name, interval, err)
	}
	info.First, info.Last = gaps.first, interval.StartOf(interval.Index(gaps.end)-1)
	complete, err := coverage(tx, name, interval)
	for _, gap := range splitGaps(gaps.gaps, complete, interval) {
		if gap.NoTrade {
			info.NoTrade += gap.Candles
		} else {
			info.Unknown += gap.Candles
		}
	}
	return info, err
}

func (s *Series) count(h *chunkHeader, bytes int) {
	s.Candles += int64(h.rows)
	s.Bytes += int64(bytes)
	s.Chunks++
}

// chunks returns the bucket of a series, whose pages with candles of span are checked (a zero bound
// is none), or an error wrapping ErrNoData.
func (s *Store) chunks(tx *bbolt.Tx, name string, interval market.Interval, span Range) (*bbolt.Bucket, error) {
	chunks := tx.Bucket(bucketCandles).Bucket(seriesKey(name, interval))
	if chunks == nil {
		return nil, s.noData(tx, name, interval)
	}
	var from, to []byte
	if span.From != 0 {
		number, _ := chunkOf(interval.Index(span.From))
		from = chunkKey(number)
	}
	if span.To != 0 {
		number, _ := chunkOf(interval.Index(span.To))
		to = chunkKey(number)
	}
	if err := s.db.CheckKeys(chunks, from, to); err != nil {
		return nil, explain(s.path, err)
	}
	return chunks, nil
}

// noData returns ErrNoData with a list of the stored series.
func (s *Store) noData(tx *bbolt.Tx, name string, interval market.Interval) error {
	var have []string
	err := bolt.ForEachBucket(tx.Bucket(bucketCandles), func(key []byte) error {
		have = append(have, string(key))
		return nil
	})
	stored := "the store is empty"
	if len(have) > 0 {
		stored = "stored are " + strings.Join(have[:min(len(have), 12)], ", ")
	}
	return errors.Join(fmt.Errorf("%s %s in %s: %w (%s); %s", name, interval, s.path, ErrNoData, stored,
		importHint(name, interval)), err)
}

func (s *Store) seriesError(name string, interval market.Interval, err error) error {
	return fmt.Errorf("%s: %s %s: %w", s.path, name, interval, err)
}

func marketDigits(tx *bbolt.Tx, name string) (priceDigits, volumeDigits uint8, err error) {
	record := tx.Bucket(bucketMarkets).Get([]byte(name))
	switch {
	case record == nil:
		return 0, 0, fmt.Errorf("market %s: %w", name, ErrNoData)
	case len(record) != 2 || record[0] > market.MaxDigits || record[1] > market.MaxDigits:
		return 0, 0, fmt.Errorf("market %s: %w: record %x", name, bolt.ErrCorrupt, record)
	}
	return record[0], record[1], nil
}

// seriesKey is "BTC-EUR 1h".
func seriesKey(name string, interval market.Interval) []byte {
	return []byte(name + " " + interval.String())
}

func parseSeriesKey(key []byte) (string, market.Interval, error) {
	name, text, _ := strings.Cut(string(key), " ")
	interval, err := market.ParseInterval(text)
	if err != nil || CheckMarketName(name) != nil {
		return "", 0, fmt.Errorf("%w: series %q", bolt.ErrCorrupt, key)
	}
	return name, interval, nil
}

// CheckMarketName checks that a store can hold a market of this name: BASE-QUOTE, at most 64
// characters of printable ASCII, no space or slash.
func CheckMarketName(name string) error {
	foreign := func(r rune) bool { return r <= ' ' || r > '~' || r == '/' || r == '\\' }
	if base, quote, _ := strings.Cut(name, "/"); len(name) <= 64 && base != "" && quote != "" &&
		!strings.ContainsFunc(base+quote, foreign) {
		return fmt.Errorf("market %q: did you mean %s-%s?", name, base, quote)
	}
	if len(name) > 64 || strings.ContainsFunc(name, foreign) {
		return fmt.Errorf("market %q: want up to 64 printable characters such as BTC-EUR", name[:min(len(name), 64)])
	}
	_, _, err := market.SplitName(name)
	return err
}
