package backtest

import (
	"io"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// alteration is the difference between the candles of a run and the stored ones.
type alteration struct {
	cut    market.Time // candles that close later are altered; 0: all of them
	noise  bool        // into noise; with a cut, the data ends after it
	until  market.Time // last close of the noise behind a cut; 0: it has as many candles as the horizon
	ends   bool        // the data ends at the cut
	copies bool        // a batch's memory may be overwritten, and serves again only several batches later
	owned  bool        // the source's memory may be overwritten
	seed   uint64
}

// apply alters the candles of a source.
func (a alteration) apply(source Source, f Feed) Source {
	if a == (alteration{seed: a.seed}) {
		return source
	}
	return a.of(source, f)
}

// of alters the candles of a source.
func (a alteration) of(source Source, f Feed) *altered {
	chance := randomSequence(a.seed + uint64(f.Market.ID)<<8 + uint64(f.Interval))
	return &altered{Source: source, alteration: a, tick: max(1, f.Market.TickSize), chance: chance}
}

type altered struct {
	Source
	alteration
	tick   market.Price
	chance randomSequence
	last   market.Price // close of the candle before
	real   market.Price // its close before it was altered
	first  market.Price // open of the first one
	count  int          // candles of noise
	buffer []market.Candle
	older  [4][]market.Candle // of copies: buffers in turn
	batch  int                // of copies: number of the batch
	done   bool
}

// Next returns the source's next batch, altered, in memory that is not the source's.
func (s *altered) Next() ([]market.Candle, error) {
	if s.done {
		return nil, io.EOF
	}
	batch, err := s.Source.Next()
	if err != nil {
		return nil, err
	}
	if s.owned {
		return s.alter(batch), nil
	}
	if s.copies {
		next := &s.older[s.batch%len(s.older)]
		s.buffer, *next = *next, s.buffer
		s.batch++
	}
	s.buffer = append(s.buffer[:0], batch...)
	return s.alter(s.buffer), nil
}

// alter alters candles in place and returns the candles that are left in the altered series.
func (s *altered) alter(batch []market.Candle) []market.Candle {
	for i := range batch {
		c := &batch[i]
		later := (s.ends || s.noise) && c.End() > s.cut
		if later && (s.ends || s.cut > 0 && s.past(c)) {
			s.done = true
			return batch[:i]
		}
		if s.first == 0 {
			s.first, s.last, s.real = c.Open, c.Open, c.Open
		}
		real := c.Close
		if later {
			s.distort(c)
			s.count++
		}
		s.real, s.last = real, c.Close
	}
	return batch
}

// past reports whether a candle comes after the noise behind a cut.
func (s *altered) past(c *market.Candle) bool {
	if s.until > 0 {
		return c.End() > s.until
	}
	return s.count == horizon
}

// distort replaces all but the times of a candle: a random walk from the last close, which stays
// within an eighth and eight times of the first price. Up to the horizon it moves by up to three
// per cent a candle, later by as much as the candle itself: strategies then trade as often as
// before.
func (s *altered) distort(c *market.Candle) {
	most := 3 * s.last / 100
	if s.count >= horizon {
		most = max(c.High, s.real) - min(c.Low, s.real)
	}
	c.Open = s.last
	c.Close = s.step(c.Open, most)
	c.High = max(c.Open, c.Close, s.step(max(c.Open, c.Close), most))
	c.Low = min(c.Open, c.Close, s.step(min(c.Open, c.Close), most))
	c.Volume = market.Volume(s.chance.below(2*int64(c.Volume) + 2))
}

// step is a price at most so far, and a unit, away from another.
func (s *altered) step(p, most market.Price) market.Price {
	p += market.Price(s.chance.below(2*int64(most)+3)) - most - 1
	least, highest := max(s.tick, s.first/8), 8*s.first
	if p = market.FloorTo(p, s.tick); p < least || p > highest {
		return min(max(p, least), highest)
	}
	return p
}

// randomSequence is a reproducible sequence of pseudo-random numbers (splitmix64).
type randomSequence uint64

func (s *randomSequence) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n).
func (s *randomSequence) below(n int64) int64 {
	high, _ := bits.Mul64(s.next(), uint64(n))
	return int64(high)
}

// overwrite destroys candles that a strategy has received.
func overwrite(candles []market.Candle) {
	for i := range candles {
		candles[i] = market.Candle{Open: 1, High: 1, Low: 1, Close: 1, Start: 1}
	}
}
