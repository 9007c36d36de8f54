package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// Given is the library of candles that a program hands over, such as a test. Candles of
// a longer interval are merged from the longest given interval that divides it.
type Given struct {
	inMemory
	series, merged []Series
}

// Series are the candles of one market and interval, oldest first. Their prices and volumes have
// the given decimals.
type Series struct {
	Market                    string
	Interval                  market.Interval
	PriceDigits, VolumeDigits uint8
	Candles                   []market.Candle // their Market is ignored
}

// NewGiven checks the series. The library keeps them; the caller does not change them any more.
func NewGiven(series []Series) (*Given, error) {
	g := &Given{}
	g.of = g.seriesOf
	for i := range series {
		s := &series[i]
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("candles of %s %s: %w", s.Market, s.Interval, err)
		}
		if find(g.series, s.Market, s.Interval) != nil {
			return nil, fmt.Errorf("candles of %s %s are given twice; join them", s.Market, s.Interval)
		}
		g.series = append(g.series, *s)
	}
	return g, nil
}

func (s *Series) check() error {
	if err := candles.CheckMarketName(s.Market); err != nil {
		return err
	}
	if len(s.Candles) == 0 {
		return fmt.Errorf("there are none")
	}
	for i := range s.Candles {
		c := &s.Candles[i]
		if c.Interval != s.Interval {
			return fmt.Errorf("candle %d is one of %s; give each interval by itself", i+1, c.Interval)
		}
		if err := c.Check(); err != nil {
			return fmt.Errorf("candle %d, %s: %w", i+1, c.Start, err)
		}
		if i > 0 && c.Start <= s.Candles[i-1].Start {
			return fmt.Errorf("candle %d, %s, is not after the one before; sort them by Start", i+1, c.Start)
		}
	}
	return nil
}

// find is the series of a market and exactly this interval, or nil.
func find(series []Series, name string, interval market.Interval) *Series {
	for i := range series {
		if s := &series[i]; s.Market == name && s.Interval == interval {
			return s
		}
	}
	return nil
}

// seriesOf is the series of a market at an interval; the first call merges it.
func (g *Given) seriesOf(name string, interval market.Interval) (*Series, error) {
	if s := cmp.Or(find(g.series, name, interval), find(g.merged, name, interval)); s != nil {
		return s, nil
	}
	for shorter := interval - 1; shorter >= market.Interval1m; shorter-- {
		from := find(g.series, name, shorter)
		if from == nil || !shorter.Divides(interval) {
			continue
		}
		longer := *from
		if longer.Interval, longer.Candles = interval, merge(from.Candles, interval); len(longer.Candles) == 0 {
			return nil, fmt.Errorf("%w for %s %s: the %d candles of %s make no whole one; give more", candles.ErrNoData,
				name, interval, len(from.Candles), shorter)
		}
		g.merged = append(g.merged, longer)
		return &g.merged[len(g.merged)-1], nil
	}
	return nil, fmt.Errorf("%w for %s %s, and no shorter ones to merge; give them, or trade on a longer interval",
		candles.ErrNoData, name, interval)
}

// open copies the candles of the range, in the market's units.
func (g *Given) open(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
	s, err := g.of(f.Market.Name, f.Interval)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(within(s.Candles, from, to))
	for i := range list {
		c := &list[i]
		c.Market = f.Market.ID
		for _, price := range [...]*market.Price{&c.Open, &c.High, &c.Low, &c.Close} {
			n, err := market.Rescale(int64(*price), s.PriceDigits, f.Market.PriceDigits)
			if err != nil {
				return nil, fmt.Errorf("candle %s of %s in %d decimals: %w", c.Start, s.Market, f.Market.PriceDigits,
					err)
			}
			*price = market.Price(n)
		}
		n, err := market.Rescale(int64(c.Volume), s.VolumeDigits, f.Market.VolumeDigits)
		if err != nil {
			return nil, fmt.Errorf("volume of candle %s of %s: %w", c.Start, s.Market, err)
		}
		c.Volume = market.Volume(n)
	}
	return &batches{left: list}, nil
}

// Markets are the given ones, sorted.
func (g *Given) Markets() (names []string, err error) {
	for i := range g.series {
		names = append(names, g.series[i].Market)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
