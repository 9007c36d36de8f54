package indicator

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// StdDev is the standard deviation of the last n prices, divided by n (of the window as a whole,
// not of a sample).
type StdDev struct {
	ring    ring[market.Price]
	sum     market.Price
	squares int128
	limit   limit
}

// NewStdDev returns a deviation over n prices. It panics where n is below 1.
func NewStdDev(n int) StdDev { return StdDev{ring: newRing[market.Price](n), limit: room(n)} }

// Push takes the next price. It panics if the sum of n such prices overflows an int64.
func (s *StdDev) Push(p market.Price) {
	s.limit.hold(p)
	old := s.ring.push(p)
	s.sum += p - old
	s.squares = s.squares.plus(product(p, p)).minus(product(old, old))
}

// Ready reports whether n prices were pushed.
func (s *StdDev) Ready() bool { return s.ring.full }

// Mean is the simple average of the same prices.
func (s *StdDev) Mean() Level { return Level(float64(s.sum) / float64(len(s.ring.list))) }

// Value is √(n·Σx² − (Σx)²) ÷ n. The difference is taken of integers: it is 0 for equal prices and
// never below.
func (s *StdDev) Value() float64 { return s.spread() / float64(len(s.ring.list)) }

// Times is k deviations as a distance between prices, rounded up to a whole price unit. It panics
// where the result leaves int64.
func (s *StdDev) Times(k float64) market.Price { return reach(k * s.Value()) }

// spread is n times the deviation.
func (s *StdDev) spread() float64 {
	return math.Sqrt(s.squares.times(len(s.ring.list)).minus(product(s.sum, s.sum)).float())
}

// Warmup is n.
func (s *StdDev) Warmup() int { return len(s.ring.list) }

// ZScore is how many standard deviations the last price lies above the mean of the last n prices,
// below it where negative.
type ZScore struct {
	deviation StdDev
	last      market.Price
}

// NewZScore returns a z-score over n prices. It panics where n is below 2.
func NewZScore(n int) ZScore { return ZScore{deviation: NewStdDev(atLeast(2, n))} }

// Push takes the next price.
func (z *ZScore) Push(p market.Price) {
	z.deviation.Push(p)
	z.last = p
}

// Ready reports whether n prices were pushed.
func (z *ZScore) Ready() bool { return z.deviation.Ready() }

// Value is the z-score, 0 where all prices are equal.
func (z *ZScore) Value() float64 {
	spread := z.deviation.spread()
	if spread == 0 {
		return 0
	}
	return product(z.last, market.Price(z.deviation.Warmup())).minus(wide(z.deviation.sum)).float() / spread
}

// Warmup is n.
func (z *ZScore) Warmup() int { return z.deviation.Warmup() }
