package state

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/tidemark-trading/tidemark/market"
)

// ErrNoData is wrapped when nothing is stored for a market and interval, or no store is there.
var ErrNoData = errors.New("no candles stored")

// ErrCorrupt is wrapped when stored bytes cannot be what this program wrote.
var ErrCorrupt = errors.New("corrupt")

// ErrLocked is wrapped when another process holds the store.
var ErrLocked = errors.New("in use by another process")

// lockWait is how long an open waits for another process.
const lockWait = time.Second

const storeFormat = 1

// growStep is the room that the file gets beyond what a commit needs.
const growStep = 1 << 20

var (
	bucketMeta     = []byte("meta")
	bucketMarkets  = []byte("markets")  // name → price and volume decimals
	bucketCandles  = []byte("candles")  // series key → bucket of chunks
	bucketCoverage = []byte("coverage") // series key → complete ranges
	keyFormat      = []byte("format")
)

// CandleStore keeps candles of many markets and intervals in one file. A market and an interval together are a series; the
// decimals of a market are shared by its series and only ever grow. Every change is one transaction: after a crash it has
// happened or it has not. Readers live inside a transaction: close them before writing through the same store.
type CandleStore struct {
	db   *bbolt.DB
	path string
}

// Series describes what is stored of one market and interval.
type Series struct {
	Market                    string
	Interval                  market.Interval
	PriceDigits, VolumeDigits uint8       // of the market
	First, Last               market.Time // starts of the first and the last candle
	Candles                   int64
	Chunks                    int64
	Bytes                     int64 // packed, heads included
	NoTrade                   int64 // missing between First and Last: known that nothing traded
	Unknown                   int64 // missing between First and Last: not known why
}

// End returns the end (exclusive) of the last candle.
func (s *Series) End() market.Time { return s.Interval.End(s.Last) }

// OpenCandles opens the store at path for writing. It is made when missing, and held alone. It waits a second for other processes, then
// wraps ErrLocked. A file that is no store wraps ErrCorrupt, one of a newer format ErrNewer.
func OpenCandles(path string) (*CandleStore, error) { return openCandles(path, false) }

// ReadCandles opens the store at path for reading, which others may do at the same time. A missing or empty file wraps ErrNoData; the
// other errors are those of OpenCandles.
func ReadCandles(path string) (*CandleStore, error) { return openCandles(path, true) }

func openCandles(path string, readOnly bool) (store *CandleStore, err error) {
	if err := checkFile(path, readOnly); err != nil {
		return nil, err
	}
	defer catchCorrupt(path, &err, debug.SetPanicOnFault(true))
	var file *os.File
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{Timeout: lockWait, ReadOnly: readOnly, InitialMmapSize: mapAtOpen(readOnly),
		OpenFile: func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
			file, err = os.OpenFile(name, flag, mode)
			return file, err
		}})
	if err != nil {
		return nil, openError(path, err)
	}
	db.AllocSize = growStep
	s := &CandleStore{db: db, path: path}
	if err := s.prepare(file, readOnly); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// checkFile looks at what the database layer has no good word for: no file, an empty one to read, a folder.
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

// mapAtOpen is how much address space a writer takes at once: growing the mapping in mid-transaction copies what is written.
func mapAtOpen(readOnly bool) int {
	if readOnly {
		return 0
	}
	return writerMap
}

func openError(path string, err error) error {
	switch {
	case strings.Contains(err.Error(), "file size too small"): // of bbolt, without a name
		return fmt.Errorf("%s: %w: cut off: %w", path, ErrCorrupt, err)
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("%s is %w; stop that one or try again later", path, ErrLocked)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return fmt.Errorf("%s: %w: not a candle store: %w", path, ErrCorrupt, err)
	}
	return fmt.Errorf("open candle store: %w", err)
}

func importHint(name string, interval market.Interval) string {
	return fmt.Sprintf("import some with: bot candles import --market %s --interval %s FILE.csv", name, interval)
}

// prepare checks the store's format and makes its buckets where they are missing.
func (s *CandleStore) prepare(file *os.File, readOnly bool) (err error) {
	defer catchCorrupt(s.path, &err, debug.SetPanicOnFault(true))
	if err := s.checkSize(); err != nil {
		return err
	}
	if err := checkTree(file, s.path, s.db, 2); err != nil {
		return err
	}
	if readOnly {
		return s.db.View(s.checkFormat)
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		if name, _ := tx.Cursor().First(); name != nil {
			return s.checkFormat(tx)
		}
		return makeBuckets(tx) // only where there is nothing at all: a name that was damaged is no reason to begin anew
	})
}

// checkSize refuses a file that was cut off: reading behind its end would kill the process.
func (s *CandleStore) checkSize() error {
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	return s.db.View(func(tx *bbolt.Tx) error {
		if info.Size() < tx.Size() {
			return fmt.Errorf("%s: %w: %d bytes of %d are there", s.path, ErrCorrupt, info.Size(), tx.Size())
		}
		return nil
	})
}

func makeBuckets(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketMeta, bucketMarkets, bucketCandles, bucketCoverage} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return tx.Bucket(bucketMeta).Put(keyFormat, []byte{storeFormat})
}

func (s *CandleStore) checkFormat(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketMeta, bucketMarkets, bucketCandles, bucketCoverage} {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("%s: %w: not a candle store: no %s in it", s.path, ErrCorrupt, name)
		}
	}
	switch format := tx.Bucket(bucketMeta).Get(keyFormat); {
	case len(format) != 1:
		return fmt.Errorf("%s: %w: format %x, this program reads %d", s.path, ErrCorrupt, format, storeFormat)
	case format[0] > storeFormat:
		return fmt.Errorf("%s: %w: format %d, this program reads %d; update the program, or name another file", s.path, ErrNewer, format[0], storeFormat)
	case format[0] < storeFormat:
		return fmt.Errorf("%s: %w: format %d, this program reads %d", s.path, ErrCorrupt, format[0], storeFormat)
	}
	return nil
}

// Close releases the file. It waits for open readers.
func (s *CandleStore) Close() error { return s.db.Close() }

// Path returns the path the store was opened with.
func (s *CandleStore) Path() string { return s.path }

// Digits returns the decimals of a market's prices and volumes: what every candle of it fits in. It wraps ErrNoData for a
// market that was never stored.
func (s *CandleStore) Digits(name string) (priceDigits, volumeDigits uint8, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		priceDigits, volumeDigits, err = marketDigits(tx, name)
		return err
	})
	return priceDigits, volumeDigits, err
}

// Series describes one series. It wraps ErrNoData, with a hint how to import, when there is none.
func (s *CandleStore) Series(name string, interval market.Interval) (info Series, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		info, err = s.describe(tx, name, interval)
		return err
	})
	return info, err
}

// List describes every series, by market, then from the shortest interval.
func (s *CandleStore) List() (list []Series, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketCandles).ForEachBucket(func(key []byte) error {
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
func (s *CandleStore) describe(tx *bbolt.Tx, name string, interval market.Interval) (info Series, err error) {
	info = Series{Market: name, Interval: interval}
	chunks, err := s.chunks(tx, name, interval)
	if err != nil {
		return info, err
	}
	if info.PriceDigits, info.VolumeDigits, err = marketDigits(tx, name); err != nil {
		return info, err
	}
	gaps := gapCounter{}
	err = walkStarts(chunks, interval, Range{}, func(run Range) error {
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

// chunks returns the bucket of a series, or an error wrapping ErrNoData.
func (s *CandleStore) chunks(tx *bbolt.Tx, name string, interval market.Interval) (*bbolt.Bucket, error) {
	chunks := tx.Bucket(bucketCandles).Bucket(seriesKey(name, interval))
	if chunks == nil {
		return nil, s.noData(tx, name, interval)
	}
	return chunks, nil
}

// noData names what the store has instead.
func (s *CandleStore) noData(tx *bbolt.Tx, name string, interval market.Interval) error {
	var have []string
	err := tx.Bucket(bucketCandles).ForEachBucket(func(key []byte) error {
		have = append(have, string(key))
		return nil
	})
	stored := "the store is empty"
	if len(have) > 0 {
		stored = "stored are " + strings.Join(have[:min(len(have), 12)], ", ")
	}
	return errors.Join(fmt.Errorf("%s %s in %s: %w (%s); %s", name, interval, s.path, ErrNoData, stored, importHint(name, interval)), err)
}

// view runs a read transaction; a page that the database layer cannot read becomes an error.
func (s *CandleStore) view(read func(tx *bbolt.Tx) error) (err error) {
	defer catchCorrupt(s.path, &err, debug.SetPanicOnFault(true))
	return s.db.View(read)
}

// catchCorrupt, deferred, turns the panic of the database layer over a page it cannot read into an error, and so a read
// outside the file that such a page led to: that is what debug.SetPanicOnFault is for, whose old setting comes as faults.
func catchCorrupt(path string, err *error, faults bool) {
	debug.SetPanicOnFault(faults)
	switch caught := recover().(type) {
	case nil:
	case runtime.Error:
		*err = fmt.Errorf("%s: %w: a page of the file cannot be read (%w)", path, ErrCorrupt, caught)
	default:
		*err = fmt.Errorf("%s: %w: %v", path, ErrCorrupt, caught)
	}
}

func (s *CandleStore) seriesError(name string, interval market.Interval, err error) error {
	return fmt.Errorf("%s: %s %s: %w", s.path, name, interval, err)
}

func marketDigits(tx *bbolt.Tx, name string) (priceDigits, volumeDigits uint8, err error) {
	record := tx.Bucket(bucketMarkets).Get([]byte(name))
	switch {
	case record == nil:
		return 0, 0, fmt.Errorf("market %s: %w", name, ErrNoData)
	case len(record) != 2 || record[0] > market.MaxDigits || record[1] > market.MaxDigits:
		return 0, 0, fmt.Errorf("market %s: %w: record %x", name, ErrCorrupt, record)
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
		return "", 0, fmt.Errorf("%w: series %q", ErrCorrupt, key)
	}
	return name, interval, nil
}

// CheckMarketName accepts what a store can hold candles of: BASE-QUOTE, at most 64 letters of printable ASCII, no space or slash.
func CheckMarketName(name string) error {
	foreign := func(r rune) bool { return r <= ' ' || r > '~' || r == '/' || r == '\\' }
	if len(name) > 64 || strings.ContainsFunc(name, foreign) {
		return fmt.Errorf("market %q: want up to 64 printable characters such as BTC-EUR", name[:min(len(name), 64)])
	}
	_, _, err := market.SplitName(name)
	return err
}
