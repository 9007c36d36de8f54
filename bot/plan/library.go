package plan

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// Library is the source of a run's candles.
type Library interface {
	// Part describes the candles of a series that start in [from, to); zero is no bound. The error
	// wraps candles.ErrNoData if there is no series.
	Part(name string, interval market.Interval, from, to market.Time) (candles.Part, error)
	// Span returns the start of a series' first candle and the end of its last one. The error wraps
	// candles.ErrNoData if there is no series.
	Span(name string, interval market.Interval) (candles.Range, error)
	// Gaps lists missing candles; zero is no bound.
	Gaps(name string, interval market.Interval, from, to market.Time) ([]candles.Gap, error)
	// DataHash is a hash of the candles in a range.
	DataHash(name string, interval market.Interval, from, to market.Time) (string, error)
	// Markets are the names of the markets that have candles.
	Markets() ([]string, error)
	// Listings calls each with the records of an exchange's markets, of the days that begin in
	// [from, to), the oldest first; a to of 0 is no bound.
	Listings(from, to market.Time, each func(*candles.Listing) error) error
	// ListingRange describes these records; Days is 0 where there are none.
	ListingRange() (candles.ListingRange, error)
	// open reads a feed.
	open(f backtest.Feed, from, to market.Time) (backtest.Source, error)
	Close() error
}

// Stored is the candle store as a library.
type Stored struct{ *candles.Store }

func (s Stored) open(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
	return s.Read(candles.ReadOptions{Market: f.Market, Interval: f.Interval, From: from, To: to})
}

// inMemory is the part of a library that its series decide. It has no records of markets.
type inMemory struct {
	of func(name string, interval market.Interval) (*Series, error)
}

// Part describes a part of a series.
func (m *inMemory) Part(name string, interval market.Interval, from, to market.Time) (part candles.Part, err error) {
	s, err := m.of(name, interval)
	if err != nil {
		return part, err
	}
	part = candles.Part{PriceDigits: s.PriceDigits, VolumeDigits: s.VolumeDigits}
	if list := within(s.Candles, from, to); len(list) > 0 {
		part.Range = candles.Range{From: list[0].Start, To: list[len(list)-1].End()}
	}
	return part, nil
}

// Span returns the span of the candles, as a store does.
func (m *inMemory) Span(name string, interval market.Interval) (candles.Range, error) {
	part, err := m.Part(name, interval, 0, 0)
	return part.Range, err
}

// Gaps lists the candles that are missing between others.
func (m *inMemory) Gaps(name string, interval market.Interval, from, to market.Time) ([]candles.Gap, error) {
	s, err := m.of(name, interval)
	if err != nil {
		return nil, err
	}
	return gapsIn(within(s.Candles, from, to), interval), nil
}

// DataHash hashes the candles of the range.
func (m *inMemory) DataHash(name string, interval market.Interval, from, to market.Time) (string, error) {
	s, err := m.of(name, interval)
	if err != nil {
		return "", err
	}
	return hashCandles(within(s.Candles, from, to)), nil
}

// Listings are none.
func (*inMemory) Listings(market.Time, market.Time, func(*candles.Listing) error) error { return nil }

// ListingRange is that of no records.
func (*inMemory) ListingRange() (r candles.ListingRange, err error) { return r, nil }

// Close has nothing to release.
func (*inMemory) Close() error { return nil }

// OpenLibrary opens the source of candles that a config names.
func OpenLibrary(c *config.Backtest) (Library, error) {
	if c.Data.Recording != "" {
		return nil, c.Source.Place(config.Keyf([]string{"data", "recording"}, "only bot backtest runs on a recording; "+
			"this command wants candles: leave it out, or --set data.recording="))
	}
	if c.Data.Source == config.SourceSynthetic {
		return newSynthetics(c.Backtest.Seed), nil
	}
	store, err := candles.Read(c.Data.Candles)
	if errors.Is(err, candles.ErrNoData) {
		s, problem := c.Strategies[slices.Min(slices.Collect(maps.Keys(c.Strategies)))], "is not there"
		if _, err := os.Stat(c.Data.Candles); err == nil {
			problem = "is an empty file"
		}
		return nil, fmt.Errorf("%s %s; %s", c.Data.Candles, problem,
			importHint(c.Data.Candles, append(s.Markets, synthetic.Names()...)[0], s.Interval))
	}
	if err != nil {
		return nil, err
	}
	return Stored{store}, nil
}

// importHint is the command that imports candles into a store.
func importHint(file, name string, interval market.Interval) string {
	return fmt.Sprintf("import candles with: bot candles import%s --market %s --interval %s FILE.csv", storeFlag(file),
		name, interval)
}

// storeFlag is the flag --db for a file; empty for the default file.
func storeFlag(file string) string {
	if file == config.DefaultStore {
		return ""
	}
	return " --db " + file
}

// ExplainMissing adds a hint to an error about a series that is not stored: resample shorter
// candles if there are any, else import.
func ExplainMissing(lib Library, file, name string, interval market.Interval, cause error) error {
	if !errors.Is(cause, candles.ErrNoData) || file == "" {
		return cause
	}
	for shorter := interval - 1; shorter >= market.Interval1m; shorter-- {
		if _, err := lib.Span(name, shorter); err == nil && shorter.Divides(interval) {
			return fmt.Errorf("%s %s is not stored in %s, but %s is; resample it with: bot candles resample%s "+
				"--market %s --interval %s --into %s",
				name, interval, file, shorter, storeFlag(file), name, shorter, interval)
		}
	}
	return fmt.Errorf("%s %s is not stored in %s; %s", name, interval, file, importHint(file, name, interval))
}
