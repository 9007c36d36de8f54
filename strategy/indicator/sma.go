package indicator

import "github.com/tidemark-trading/tidemark/market"

// SMA is the simple moving average of the last n prices.
type SMA struct {
	line
	ring  ring[market.Price]
	sum   market.Price
	limit limit
}

// NewSMA returns an average over n prices. It panics where n is below 1.
func NewSMA(n int) SMA { return SMA{ring: newRing[market.Price](n), limit: room(n)} }

// Push takes the next price. It panics if the sum of n such prices overflows an int64.
func (s *SMA) Push(p market.Price) {
	s.limit.hold(p)
	s.sum += p - s.ring.push(p)
	s.level = Level(float64(s.sum) / float64(len(s.ring.list)))
}

// Ready reports whether n prices were pushed.
func (s *SMA) Ready() bool { return s.ring.full }

// Sum is the sum of the last n prices, exactly. Compare sums, not averages, to find a cross.
func (s *SMA) Sum() market.Price { return s.sum }

// Warmup is n.
func (s *SMA) Warmup() int { return len(s.ring.list) }
