package indicator

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// Correlation is Pearson's correlation of the last n pairs, from -1 to 1: of the prices of two
// markets, or better of their changes, which have no trend in common.
type Correlation struct {
	ring       ring[pair]
	x, y       market.Price // sums
	xx, yy, xy int128       // sums of products
	limit      limit
}

type pair struct{ x, y market.Price }

// NewCorrelation returns a correlation of n pairs. It panics where n is below 2.
func NewCorrelation(n int) Correlation {
	return Correlation{ring: newRing[pair](atLeast(2, n)), limit: room(n)}
}

// Push takes the next pair, which may be negative. It panics if the sum of n such prices overflows
// an int64.
func (r *Correlation) Push(x, y market.Price) {
	r.limit.hold(x)
	r.limit.hold(y)
	old := r.ring.push(pair{x, y})
	r.x, r.y = r.x+x-old.x, r.y+y-old.y
	r.xx = r.xx.plus(product(x, x)).minus(product(old.x, old.x))
	r.yy = r.yy.plus(product(y, y)).minus(product(old.y, old.y))
	r.xy = r.xy.plus(product(x, y)).minus(product(old.x, old.y))
}

// Ready reports whether n pairs were pushed.
func (r *Correlation) Ready() bool { return r.ring.full }

// Value is the correlation, 0 where one side did not move.
func (r *Correlation) Value() float64 {
	n := len(r.ring.list)
	x := r.xx.times(n).minus(product(r.x, r.x)).float()
	y := r.yy.times(n).minus(product(r.y, r.y)).float()
	if x == 0 || y == 0 {
		return 0
	}
	return r.xy.times(n).minus(product(r.x, r.y)).float() / math.Sqrt(x) / math.Sqrt(y)
}

// Warmup is n.
func (r *Correlation) Warmup() int { return len(r.ring.list) }
