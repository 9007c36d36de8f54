package plan

import (
	"errors"
	"fmt"
	"io"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/universe"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// volumes are the candles and records of a library, as far as a ranking may read them.
type volumes struct {
	Library
	quote    string
	from, to market.Time // 0: no bound
}

// book has the volumes of all markets: those of candles, and those of the records.
func (v *volumes) book() (*universe.Ranking, error) {
	book := &universe.Ranking{}
	names, err := v.Markets()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, quote, err := market.SplitName(name); err != nil || quote != v.quote {
			continue
		}
		first, days, err := v.days(name)
		if err == nil {
			err = book.AddCandleDays(name, first, days)
		}
		if err != nil {
			return nil, fmt.Errorf("volumes of %s: %w", name, err)
		}
	}
	return book, v.Listings(v.from, v.to, book.AddListing)
}

// days are a market's volumes in quote by UTC day, each the sum of volume × close over the longest
// candles of a day or shorter. A day that the candles do not reach to its end is left out.
func (v *volumes) days(name string) (first int64, days []market.Value, err error) {
	interval, part, err := v.longest(name)
	if err != nil || interval == 0 {
		return 0, nil, err
	}
	from, to := max(part.From, v.from, 0), part.To
	if v.to != 0 {
		to = min(to, v.to)
	}
	m := &market.Market{Name: name, PriceDigits: part.PriceDigits, VolumeDigits: part.VolumeDigits}
	source, err := v.open(backtest.Feed{Market: m, Interval: interval}, from, to)
	if err != nil {
		return 0, nil, err
	}
	defer source.Close()
	sum := volumeSum{first: candles.DayOf(from), digits: part.PriceDigits + part.VolumeDigits}
	if err := sum.add(source); err != nil {
		return 0, nil, err
	}
	whole := candles.DayOf(to) - sum.first // days that have ended
	return sum.first, sum.volumes[:max(0, min(int64(len(sum.volumes)), whole))], nil
}

// longest is the longest interval, of a day at most, of which a market has candles in the range; 0:
// none.
func (v *volumes) longest(name string) (market.Interval, candles.Part, error) {
	for interval := market.Interval1d; interval >= market.Interval1m; interval-- {
		part, err := v.Part(name, interval, v.from, v.to)
		if err == nil && part.Range != (candles.Range{}) || err != nil && !errors.Is(err, candles.ErrNoData) {
			return interval, part, err
		}
	}
	return 0, candles.Part{}, nil
}

// volumeSum sums the volume of candles by UTC day.
type volumeSum struct {
	first   int64
	digits  uint8          // of price and volume together
	volumes []market.Value // by day from first on, universe.Digits decimals
}

// add adds all candles of a source, oldest first.
func (v *volumeSum) add(source backtest.Source) error {
	for {
		batch, err := source.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range batch {
			if err := v.candle(&batch[i]); err != nil {
				return err
			}
		}
	}
}

// candle adds close · volume of a candle to the sum of its day.
func (v *volumeSum) candle(c *market.Candle) error {
	at := candles.DayOf(c.Start) - v.first
	for int64(len(v.volumes)) <= at {
		v.volumes = append(v.volumes, market.Value{})
	}
	value, err := market.Product(int64(c.Close), int64(c.Volume), 0)
	if err == nil && v.digits < universe.Digits {
		value, err = value.ScaleUp(universe.Digits - v.digits)
	}
	for drop := v.digits; drop > universe.Digits && err == nil; {
		step := min(drop-universe.Digits, market.MaxDigits)
		value, drop = value.QuoInt(market.Pow10(step)), drop-step
	}
	if err != nil {
		return err
	}
	v.volumes[at], err = v.volumes[at].Add(value)
	return err
}
