package runner

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
)

// series is the made-up candles of a market, a minute each, whose prices are few ticks apart and
// whose opens are the closes before: between two of its prices lies no order that a trade could
// jump, and a step of the path lasts long enough to be heard of.
type series struct {
	name    string
	first   market.Price
	tick    market.Price
	candles []market.Candle
}

// The shape of a series' candles.
const (
	mostBody = 2 // ticks
	mostWick = 1
)

// weather is what a play's candles are like.
type weather struct {
	seed  uint64
	wicks bool                  // beyond open and close; without, a candle goes one way
	still func(minute int) bool // minutes in which nothing moves; nil: none
	daily float64               // volatility; 0: 0.025
}

// makeSeries makes so many candles from a time on.
func makeSeries(t *testing.T, name string, first, tick market.Price, from market.Time, minutes int, w weather) *series {
	s := &series{name: name, first: first, tick: tick}
	if w.daily == 0 {
		w.daily = 0.025
	}
	g, err := synthetic.New(synthetic.Config{Seed: w.seed,
		Market: &market.Market{ID: 1, PriceDigits: 2, VolumeDigits: 8}, Interval: market.Interval1m, Start: from,
		First: first, Volume: 50_00000000, DailyVolatility: w.daily, GapChance: -1, JumpChance: -1})
	require.NoError(t, err)
	at, carry := first, market.Price(0)
	for minute := range minutes {
		var c market.Candle
		g.Next(&c)
		body := (c.Close - c.Open + carry) / tick
		carry += c.Close - c.Open - body*tick
		body = min(mostBody, max(-mostBody, body))
		above, below := min(mostWick, (c.High-max(c.Open, c.Close))*2/tick), min(mostWick,
			(min(c.Open, c.Close)-c.Low)*2/tick)
		if !w.wicks {
			above, below = 0, 0
		}
		if w.still != nil && w.still(minute) {
			body, above, below = 0, 0, 0
		}
		c.Open, c.Close = at, max(at+body*tick, first/2)
		c.High, c.Low = max(c.Open, c.Close)+above*tick, min(c.Open, c.Close)-below*tick
		c.Volume = max(c.Volume, 1_00000000)
		at = c.Close
		s.candles = append(s.candles, c)
	}
	return s
}

// source replays the series along its path.
func (s *series) source() prices.Source {
	rest := s.candles
	return prices.Replay{Path: true, Candles: func() (c market.Candle, more bool, err error) {
		if len(rest) == 0 {
			return c, false, nil
		}
		c, rest = rest[0], rest[1:]
		return c, true, nil
	}}
}

// longer puts the candles together to those of a longer interval.
func (s *series) longer(interval market.Interval) (all []market.Candle) {
	for _, c := range s.candles {
		if n := len(all); n > 0 && interval.Floor(c.Start) == all[n-1].Start {
			last := &all[n-1]
			last.High, last.Low, last.Close, last.Volume = max(last.High, c.High), min(last.Low,
				c.Low), c.Close, last.Volume+c.Volume
			continue
		}
		c.Start, c.Interval = interval.Floor(c.Start), interval
		all = append(all, c)
	}
	return all
}

// between are the candles that start in a range.
func between(candles []market.Candle, from, to market.Time) []market.Candle {
	return slices.DeleteFunc(slices.Clone(candles),
		func(c market.Candle) bool { return c.Start < from || c.Start >= to })
}

// world makes the exchange of a stage play the series: with a house that buys and sells without end
// at the price, so that what a backtest without a spread pays is what is paid there. Its public
// candles are then those of the series, whatever the bot trades.
func world(all []*series, history time.Duration) func(*sandbox.Config) {
	return func(c *sandbox.Config) {
		c.History = history
		c.Assets = append(c.Assets, sandbox.Asset{Symbol: "ETH", Decimals: 8})
		market := c.Markets[0]
		c.Markets = nil
		for _, s := range all {
			market.Name, market.TickSize, market.Source, market.Liquidity = s.name, tickText(s.tick), s.source(),
				sandbox.Liquidity{Levels: 1, Endless: true}
			c.Markets = append(c.Markets, market)
		}
		c.Accounts[0].Keys[0].Budget = 1_000_000
	}
}

func tickText(tick market.Price) string { return fmt.Sprintf("%d.%02d", tick/100, tick%100) }
