package indicator

import "github.com/tidemark-trading/tidemark/market"

// EMA is the exponential moving average of weight 2/(n+1), which starts with the simple average of
// the first n prices.
type EMA struct {
	smooth smooth
}

// NewEMA returns an average of n prices. It panics where n is below 1.
func NewEMA(n int) EMA { return EMA{newSmooth(n, 2/float64(n+1))} }

// Push takes the next price.
func (e *EMA) Push(p market.Price) { e.smooth.push(float64(p)) }

// Ready reports whether n prices were pushed.
func (e *EMA) Ready() bool { return e.smooth.ready() }

// Value is the average.
func (e *EMA) Value() float64 { return e.smooth.value }

// Warmup is about 14·n.
func (e *EMA) Warmup() int { return e.smooth.warmup() }

// smooth is an exponential average: it moves towards each new value by a weight. Its start is the
// mean of the first n.
type smooth struct {
	weight float64
	value  float64
	seen   int // up to n
	n      int
}

func newSmooth(n int, weight float64) smooth { return smooth{n: window(n), weight: weight} }

// push rounds the product before the sum by converting it: a processor that fuses both would print
// other results.
func (s *smooth) push(x float64) {
	if s.seen == s.n {
		s.value += float64(s.weight * (x - s.value))
		return
	}
	s.seen++
	s.value += (x - s.value) / float64(s.seen)
}

func (s *smooth) ready() bool { return s.seen == s.n }

func (s *smooth) warmup() int { return s.n + decayed(1-s.weight) }
