package backtest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// series is the candles of a feed that runs in lockstep still need: each is read once for all.
type series struct {
	Feed
	source  Source
	ahead   []market.Candle // of the source's batch, to be taken over
	candles []market.Candle // a part of that batch, or of own
	own     []market.Candle
	before  int64       // how many candles came before them
	close   market.Time // of the last candle so far; 0: there is none
	ended   bool
	bench   benchmark // of the runs that are compared with a hold of its market
}

// more takes over at most so many candles.
func (s *series) more(block int) error {
	if len(s.candles) > 0 { // the batch may go, and two parts of it must become one
		s.own = append(s.own[:0], s.candles...)
		s.candles = s.own
	}
	for len(s.ahead) == 0 {
		batch, err := s.source.Next()
		if errors.Is(err, io.EOF) {
			s.ended = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", s.Market.Name, s.Interval, err)
		}
		s.ahead = batch
	}
	n := min(block, len(s.ahead))
	if len(s.candles) == 0 {
		s.candles = s.ahead[:n]
	} else {
		s.own = append(s.own, s.ahead[:n]...)
		s.candles = s.own
	}
	s.ahead = s.ahead[n:]
	s.close = s.Interval.End(s.candles[len(s.candles)-1].Start)
	return nil
}

// from is the number of the first candle that starts at a time or later.
func (s *series) from(at market.Time) int64 {
	n, _ := slices.BinarySearchFunc(s.candles, at,
		func(c market.Candle, t market.Time) int { return cmp.Compare(c.Start, t) })
	return s.before + int64(n)
}

// closed are the candles that close up to a time.
func (s *series) closed(until market.Time) []market.Candle {
	n, _ := slices.BinarySearchFunc(s.candles, until, func(c market.Candle, t market.Time) int {
		if s.Interval.End(c.Start) <= t {
			return -1
		}
		return 1
	})
	return s.candles[:n]
}

// rest is the candles from a number on.
func (s *series) rest(number int64) []market.Candle { return s.candles[number-s.before:] }

// drop forgets the candles before a number.
func (s *series) drop(number int64) {
	s.candles, s.before = s.candles[number-s.before:], number
}

// sliceSource is a source of candles at hand.
type sliceSource struct{ candles []market.Candle }

// Next returns all candles, then io.EOF.
func (g *sliceSource) Next() ([]market.Candle, error) {
	batch := g.candles
	if g.candles = nil; len(batch) == 0 {
		return nil, io.EOF
	}
	return batch, nil
}

// Close does nothing.
func (g *sliceSource) Close() error { return nil }
