package backtest

import (
	"io"

	"github.com/tidemark-trading/tidemark/market"
)

// alteration is the difference between the candles of a run and the stored ones.
type alteration struct {
	cut    market.Time // candles that close later are altered; 0: all of them
	noise  bool        // into noise; with a cut, for the length of the horizon
	ends   bool        // the data ends at the cut
	copies bool        // each batch has its own memory, which may be overwritten
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
	first  market.Price // open of the first one
	count  int          // candles of noise
	buffer []market.Candle
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
	if s.copies {
		s.buffer = nil
	}
	s.buffer = append(s.buffer[:0], batch...)
	return s.alter(s.buffer), nil
}

// alter alters candles in place and returns those that the altered series has.
func (s *altered) alter(batch []market.Candle) []market.Candle {
	for i := range batch {
		c := &batch[i]
		later := (s.ends || s.noise) && c.End() > s.cut
		if later && (s.ends || s.cut > 0 && s.count == horizon) {
			s.done = true
			return batch[:i]
		}
		if s.first == 0 {
			s.first, s.last = c.Open, c.Open
		}
		if later {
			s.distort(c)
			s.count++
		}
		s.last = c.Close
	}
	return batch
}

// distort replaces all but the times of a candle: a random walk from the last close, up to three
// per cent a candle, which stays within an eighth and eight times of the first price.
func (s *altered) distort(c *market.Candle) {
	c.Open = s.last
	c.Close = s.step(c.Open)
	c.High = max(c.Open, c.Close, s.step(max(c.Open, c.Close)))
	c.Low = min(c.Open, c.Close, s.step(min(c.Open, c.Close)))
	c.Volume = market.Volume(s.chance.below(2*int64(c.Volume) + 2))
}

func (s *altered) step(p market.Price) market.Price {
	away := market.Price(s.chance.below(6*int64(p)/100+3)) - 3*p/100 - 1
	least, most := max(s.tick, s.first/8), 8*s.first
	p = market.FloorTo(p+away, s.tick)
	if p < least || p > most {
		return min(max(p, least), most)
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

// mix makes the sequence depend on a number.
func (s *randomSequence) mix(n uint64) {
	*s ^= randomSequence(n)
	*s = randomSequence(s.next())
}

// below returns a number in [0, n).
func (s *randomSequence) below(n int64) int64 { return int64(s.next() >> 1 % uint64(n)) }

// overwrite destroys candles that a strategy has received.
func overwrite(candles []market.Candle) {
	for i := range candles {
		candles[i] = market.Candle{Open: 1, High: 1, Low: 1, Close: 1, Start: 1}
	}
}
