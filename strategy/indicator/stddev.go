package indicator

import (
	"math"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// StdDev is the standard deviation of the last n prices, divided by n (of the window as a whole,
// not of a sample).
type StdDev struct {
	ring    []market.Price
	at      uint
	sum     market.Price
	squares uint128
	full    bool
}

// NewStdDev returns a deviation over n prices. It panics where n is below 1.
func NewStdDev(n int) StdDev { return StdDev{ring: make([]market.Price, window(n))} }

// Push takes the next price.
func (s *StdDev) Push(p market.Price) {
	old := s.ring[s.at]
	s.ring[s.at] = p
	s.sum += p - old
	s.squares = s.squares.plus(product(p, p)).minus(product(old, old))
	if s.at++; s.at == uint(len(s.ring)) {
		s.at, s.full = 0, true
	}
}

// Ready reports whether n prices were pushed.
func (s *StdDev) Ready() bool { return s.full }

// Mean is the simple average of the same prices.
func (s *StdDev) Mean() float64 { return float64(s.sum) / float64(len(s.ring)) }

// Value is √(n·Σx² − (Σx)²) ÷ n. The difference is taken of integers: it is 0 for equal prices and
// never below.
func (s *StdDev) Value() float64 {
	n := uint64(len(s.ring))
	spread := s.squares.times(n).minus(product(s.sum, s.sum))
	return math.Sqrt(spread.float()) / float64(n)
}

// Warmup is n.
func (s *StdDev) Warmup() int { return len(s.ring) }

// uint128 is an unsigned integer that wraps at 2^128. Sums of squares stay below it wherever the
// sum of the prices fits an int64.
type uint128 struct {
	hi, lo uint64
}

// product multiplies two numbers that are not negative.
func product[A, B ~int64](a A, b B) uint128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return uint128{hi, lo}
}

func (u uint128) plus(v uint128) uint128 {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	hi, _ := bits.Add64(u.hi, v.hi, carry)
	return uint128{hi, lo}
}

func (u uint128) minus(v uint128) uint128 {
	lo, borrow := bits.Sub64(u.lo, v.lo, 0)
	hi, _ := bits.Sub64(u.hi, v.hi, borrow)
	return uint128{hi, lo}
}

func (u uint128) times(n uint64) uint128 {
	hi, lo := bits.Mul64(u.lo, n)
	return uint128{hi + u.hi*n, lo}
}

func (u uint128) float() float64 { return math.Ldexp(float64(u.hi), 64) + float64(u.lo) }
