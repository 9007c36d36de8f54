package indicator

import "github.com/tidemark-trading/tidemark/market"

// SMA is the simple moving average of the last n prices.
type SMA struct {
	ring []market.Price
	at   uint // where the next price goes
	sum  market.Price
	full bool
}

// NewSMA returns an average over n prices. It panics where n is below 1.
func NewSMA(n int) SMA { return SMA{ring: make([]market.Price, window(n))} }

// Push takes the next price.
func (s *SMA) Push(p market.Price) {
	ring, at := s.ring, s.at
	if at < uint(len(ring)) {
		s.sum += p - ring[at]
		ring[at] = p
		at++
	}
	if at == uint(len(ring)) {
		at, s.full = 0, true
	}
	s.at = at
}

// Ready reports whether n prices were pushed.
func (s *SMA) Ready() bool { return s.full }

// Sum is the sum of the last n prices, exactly. Compare sums, not averages, to find a cross.
func (s *SMA) Sum() market.Price { return s.sum }

// Value is the average.
func (s *SMA) Value() float64 { return float64(s.sum) / float64(len(s.ring)) }

// Warmup is n.
func (s *SMA) Warmup() int { return len(s.ring) }
