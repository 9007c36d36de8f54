package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// synthetics are the built-in markets as a library: each at 1h, and every longer interval merged
// from 1h.
type synthetics struct {
	inMemory
	seed uint64

	mutex sync.Mutex // of hours: the runs of a search share a library
	hours map[madeUp][]market.Candle
}

// madeUp is a market of a run, with its units.
type madeUp struct {
	id                        market.ID
	name                      string
	priceDigits, volumeDigits uint8
}

// candles returns the series in units of a market.
func (l *synthetics) candles(m *market.Market, interval market.Interval) ([]market.Candle, error) {
	if interval < market.Interval1h {
		return nil, l.tooShort(m.Name, interval)
	}
	hours, err := l.hoursOf(m)
	if err != nil || interval == market.Interval1h {
		return hours, err
	}
	return merge(hours, interval), nil
}

// hoursOf makes the hours of a market, once for its name and units.
func (l *synthetics) hoursOf(m *market.Market) ([]market.Candle, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	key := madeUp{m.ID, m.Name, m.PriceDigits, m.VolumeDigits}
	if hours := l.hours[key]; hours != nil {
		return hours, nil
	}
	hours, err := synthetic.Hours(m, l.seed)
	if err != nil {
		return nil, err
	}
	if l.hours == nil {
		l.hours = map[madeUp][]market.Candle{}
	}
	l.hours[key] = hours
	return hours, nil
}

func (l *synthetics) tooShort(name string, interval market.Interval) error {
	return fmt.Errorf("there is no synthetic %s %s, only 1h and longer: %w", name, interval, candles.ErrNoData)
}

// merge merges hours to longer candles. It leaves out a first or last candle that is incomplete.
func merge(hours []market.Candle, interval market.Interval) (merged []market.Candle) {
	for i := range hours {
		c := hours[i]
		start := interval.Floor(c.Start)
		if last := len(merged) - 1; last >= 0 && merged[last].Start == start {
			to := &merged[last]
			to.High, to.Low, to.Close, to.Volume = max(to.High, c.High), min(to.Low, c.Low), c.Close, to.Volume+c.Volume
			continue
		}
		c.Start, c.Interval = start, interval
		merged = append(merged, c)
	}
	if n := len(merged); n > 0 && merged[n-1].End() > hours[len(hours)-1].End() {
		merged = merged[:n-1]
	}
	if len(merged) > 0 && merged[0].Start < hours[0].Start {
		merged = merged[1:]
	}
	return merged
}

// standard is a market with the decimals of its made-up candles; an error where there are none.
func (l *synthetics) standard(name string) (*market.Market, error) {
	for _, one := range synthetic.Six() {
		if one.Name == name {
			return &market.Market{ID: 1, Name: name, PriceDigits: one.PriceDigits, VolumeDigits: one.VolumeDigits}, nil
		}
	}
	return nil, fmt.Errorf("there is no synthetic %s, only %s; for others set data.source to \"store\" and fill it: "+
		"`bot candles import` reads files", name, strings.Join(synthetic.Names(), ", "))
}

// newSynthetics are the markets of a seed.
func newSynthetics(seed uint64) *synthetics {
	l := &synthetics{seed: seed}
	l.of = l.series
	return l
}

// series is the series of an interval. Its decimals are the same for every seed.
func (l *synthetics) series(name string, interval market.Interval) (*Series, error) {
	m, err := l.standard(name)
	if err != nil {
		return nil, err
	}
	list, err := l.candles(m, interval)
	return &Series{Market: name, Interval: interval, PriceDigits: m.PriceDigits, VolumeDigits: m.VolumeDigits,
		Candles: list}, err
}

// gapsIn lists the candles that are missing in a series.
func gapsIn(series []market.Candle, interval market.Interval) (gaps []candles.Gap) {
	for i := 1; i < len(series); i++ {
		gap := candles.Gap{Range: candles.Range{From: series[i-1].End(), To: series[i].Start}}
		if gap.Candles = interval.Index(gap.To) - interval.Index(gap.From); gap.Candles > 0 {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

// within cuts candles to those that start in [from, to); 0 is no bound.
func within(candles []market.Candle, from, to market.Time) []market.Candle {
	after := func(t market.Time) int {
		at, _ := slices.BinarySearchFunc(candles, t,
			func(c market.Candle, t market.Time) int { return cmp.Compare(c.Start, t) })
		return at
	}
	end := len(candles)
	if to != 0 {
		end = after(to)
	}
	return candles[min(after(from), end):end]
}

func hashCandles(series []market.Candle) string {
	hash, row := sha256.New(), make([]byte, 0, 48)
	for _, c := range series {
		row = row[:0]
		for _, n := range [...]int64{int64(c.Start), int64(c.Open), int64(c.High), int64(c.Low), int64(c.Close),
			int64(c.Volume)} {
			row = binary.LittleEndian.AppendUint64(row, uint64(n))
		}
		hash.Write(row)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Synthetic returns the made-up candles of a market in [from, to), 0 being no bound, as a backtest
// without data has them, and the market with their decimals.
func Synthetic(name string, interval market.Interval, seed uint64, from, to market.Time) (backtest.Source,
	*market.Market, error) {
	l := newSynthetics(seed)
	m, err := l.standard(name)
	if err != nil {
		return nil, nil, err
	}
	if _, err := l.Span(name, interval); err != nil {
		return nil, nil, err
	}
	in, err := l.open(backtest.Feed{Market: m, Interval: interval}, from, to)
	return in, m, err
}

func (l *synthetics) open(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
	candles, err := l.candles(f.Market, f.Interval)
	return &batches{left: within(candles, from, to)}, err
}

// Markets are the names of the made-up markets.
func (l *synthetics) Markets() ([]string, error) { return synthetic.Names(), nil }

// batches is a slice of candles as a source.
type batches struct{ left []market.Candle }

// batchSize is the number of candles between two checks of the context.
const batchSize = 512

// Next returns the next candles.
func (b *batches) Next() ([]market.Candle, error) {
	if len(b.left) == 0 {
		return nil, io.EOF
	}
	n := min(batchSize, len(b.left))
	batch := b.left[:n]
	b.left = b.left[n:]
	return batch, nil
}

// Close has nothing to release.
func (b *batches) Close() error { return nil }
