package indicator

import "github.com/tidemark-trading/tidemark/market"

// Regression is the straight line through the last n prices with the least squares. Its
// value is the end of the line, at the last price.
type Regression struct {
	line
	slope float64
	sums  weighted
	limit limit
}

// NewRegression returns a line through n prices. It panics where n is below 2.
func NewRegression(n int) Regression {
	return Regression{sums: newWeighted(atLeast(2, n)), limit: room(n)}
}

// Push takes the next price. It panics if the sum of n such prices overflows an int64.
func (r *Regression) Push(p market.Price) {
	r.limit.hold(p)
	r.sums.push(wide(p))
	n := len(r.sums.list)
	rise := r.sums.weighted.times(2).minus(r.sums.sum.times(n + 1)) // Σ (2i−n−1)·x
	end := rise.times(3).plus(r.sums.sum.times(n + 1))
	r.level = Level(end.float() / float64(n) / float64(n+1))
	r.slope = 6 * rise.float() / float64(n) / (float64(n)*float64(n) - 1)
}

// Ready reports whether n prices were pushed.
func (r *Regression) Ready() bool { return r.sums.full }

// Slope is the rise of the line from one price to the next.
func (r *Regression) Slope() float64 { return r.slope }

// Warmup is n.
func (r *Regression) Warmup() int { return len(r.sums.list) }

// Slope is how much a line has risen in each of the last n pushes, on average: any line, such as an
// EMA.
type Slope struct {
	ring  ring[float64]
	value float64
	seen  int // up to n+1
}

// NewSlope returns the slope over n pushes. It panics where n is below 1.
func NewSlope(n int) Slope { return Slope{ring: newRing[float64](n)} }

// Push takes the next value of the line.
func (s *Slope) Push(x float64) {
	n := len(s.ring.list)
	s.value = (x - s.ring.push(x)) / float64(n)
	s.seen = min(s.seen+1, n+1)
}

// Ready reports whether n+1 values were pushed.
func (s *Slope) Ready() bool { return s.seen > len(s.ring.list) }

// Value is the rise for each push.
func (s *Slope) Value() float64 { return s.value }

// Warmup is n+1.
func (s *Slope) Warmup() int { return len(s.ring.list) + 1 }

// ROC is the rate of change: how many percent the price has risen in the last n pushes.
type ROC struct {
	ring      ring[market.Price]
	last, old market.Price
}

// NewROC returns a rate of change over n pushes. It panics where n is below 1.
func NewROC(n int) ROC { return ROC{ring: newRing[market.Price](n)} }

// Push takes the next price, which must be positive.
func (r *ROC) Push(p market.Price) { r.last, r.old = p, r.ring.push(p) }

// Ready reports whether n+1 prices were pushed.
func (r *ROC) Ready() bool { return r.old != 0 }

// Value is the rise in percent.
func (r *ROC) Value() float64 { return percent(float64(r.last-r.old), float64(r.old)) }

// Warmup is n+1.
func (r *ROC) Warmup() int { return len(r.ring.list) + 1 }
