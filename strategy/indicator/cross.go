package indicator

import (
	"fmt"
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// Cross follows a fast and a slow simple average of the same closes and says when one crosses the
// other. Their difference is fastSum·slow − slowSum·fast in whole ticks, both sides divided by the
// common divisor of the lengths: its sign is exact, so that equal averages are equal and no
// rounding makes a cross.
type Cross struct {
	ring    []market.Price // the last slow closes
	at, lag int            // where the next close goes; where the oldest of the fast average is
	was     market.Price   // the difference at the close before
	bySlow  market.Price   // lengths without their common factor
	byFast  market.Price
	byBoth  market.Price // bySlow − byFast
	calm    market.Price // highest close for Quiet: 0 before the first difference, then highest
	seen    int          // closes, up to slow
	highest market.Price // close up to which the difference is exact
}

// Direction says which way the fast average crossed the slow one; 0 is no cross.
type Direction int8

// The directions.
const (
	Down Direction = -1 // the difference was zero or above, and is below
	Up   Direction = 1  // it was zero or below, and is above
)

// NewCross returns a Cross of averages over fast and slow closes. It panics unless 1 ≤ fast < slow.
func NewCross(fast, slow int) Cross {
	if fast < 1 || fast >= slow {
		panic(fmt.Sprintf("indicator: a cross of averages over %d and %d closes", fast, slow))
	}
	common := divisor(fast, slow)
	x := Cross{ring: make([]market.Price, slow), lag: slow - fast, byFast: market.Price(fast / common),
		bySlow: market.Price(slow / common)}
	x.byBoth = x.bySlow - x.byFast
	x.highest = math.MaxInt64 / (market.Price(fast) * x.bySlow)
	return x
}

// Push takes the next close and reports a cross. The first cross can come with close slow+1, when
// there is a difference to compare with. It panics where a close is so high that the difference
// could leave an int64.
func (x *Cross) Push(close market.Price) Direction {
	if close > x.highest {
		panic(fmt.Sprintf("indicator: a close of %d ticks is above %d, up to which averages of these lengths compare "+
			"exactly", close, x.highest))
	}
	is := x.after(close)
	direction := Direction(0)
	switch {
	case x.seen < len(x.ring):
		if x.seen++; x.seen == len(x.ring) {
			x.calm = x.highest
		}
	case x.was <= 0 && is > 0:
		direction = Up
	case x.was >= 0 && is < 0:
		direction = Down
	}
	x.take(close, is)
	return direction
}

// Quiet is Push where Push would report no cross, and returns true. Where Push would report one or
// panic, and before the first difference, it changes nothing and returns false.
func (x *Cross) Quiet(close market.Price) bool {
	is := x.after(close)
	if close > x.calm || (x.was <= 0 && is > 0) || (x.was >= 0 && is < 0) {
		return false
	}
	x.take(close, is)
	return true
}

// after is the difference with one more close: it enters both sums, and the oldest close of each
// leaves. The terms may wrap, the difference itself does not.
func (x *Cross) after(close market.Price) market.Price {
	return x.was + close*x.byBoth - x.ring[x.lag]*x.bySlow + x.ring[x.at]*x.byFast
}

// take adds a close.
func (x *Cross) take(close, is market.Price) {
	x.was, x.ring[x.at] = is, close
	x.at, x.lag = next(x.at, len(x.ring)), next(x.lag, len(x.ring))
}

func next(at, length int) int {
	if at++; at == length {
		return 0
	}
	return at
}

// Ready reports whether the next Push can report a cross.
func (x *Cross) Ready() bool { return x.seen == len(x.ring) }

// Warmup is slow+1: the close at which the first cross can be reported.
func (x *Cross) Warmup() int { return len(x.ring) + 1 }

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
