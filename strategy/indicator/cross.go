package indicator

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// Cross follows a fast and a slow simple average of the same closes and says when one crosses the
// other. Their difference is fastSum·slow − slowSum·fast in whole ticks, both sides divided by the
// common divisor of the lengths: its sign is exact, so that equal averages are equal and no
// rounding makes a cross.
type Cross struct {
	ring    []market.Price // at least the last slow closes; a power of two, long enough to wrap seldom
	next    uint           // number of the next close; its place is that modulo the length of ring
	fast    uint           // closes of the averages
	slow    uint
	was     market.Price // the difference at the close before
	byFast  market.Price // lengths without their common factor: the fast one,
	byBoth  market.Price // and the slow one − the fast one
	calm    market.Price // 0 before the first difference, then highest: closes up to it take the short way
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
	return Cross{ring: make([]market.Price, 1<<max(bits.Len(uint(slow-1)), 8)), fast: uint(fast), slow: uint(slow),
		byFast: market.Price(fast / common), byBoth: market.Price((slow - fast) / common),
		highest: math.MaxInt64 / market.Price(fast*slow/common)}
}

// Push takes the next close and reports a cross. The first cross can come with close slow+1, when
// there is a difference to compare with. It panics if a close is so high that the difference
// could overflow an int64.
func (x *Cross) Push(close market.Price) Direction {
	ring, next, last := x.ring, x.next, uint(len(x.ring)-1)
	middle := ring[(next-x.fast)&last]
	// the close enters both sums, the oldest of each leaves; terms may wrap, their sum does not
	is := x.was + (close-middle)*x.byBoth + (ring[(next-x.slow)&last]-middle)*x.byFast
	if (x.calm-close)|(x.was^is) < 0 || x.was == 0 { // else both are on the same side, and close is not too high
		return x.pushRare(close, is)
	}
	ring[next&last] = close
	x.was, x.next = is, next+1
	return 0
}

// pushRare is Push where the difference may have changed its side, close may be too high, or there
// is no difference yet.
//
//go:noinline
func (x *Cross) pushRare(close, is market.Price) (direction Direction) {
	if close > x.highest {
		limit(x.highest).refuse(close)
	}
	if x.Ready() {
		direction = crossed(x.was, is)
	} else if x.next+1 == x.slow {
		x.calm = x.highest
	}
	x.take(close, is)
	return direction
}

// Skip takes the closes of candles in a row, as Push would, up to the first for which Push would
// report a cross or panic; before the first difference it takes none. It returns how many it took.
func (x *Cross) Skip(series []market.Candle) (taken int) {
	for taken < len(series) {
		taken += x.straight(series[taken:])
		rest := series[taken:min(taken+1, len(series))]
		n := x.ones(rest)
		if taken += n; n < len(rest) {
			break
		}
	}
	return taken
}

// ones is Skip, candle by candle.
func (x *Cross) ones(series []market.Candle) (taken int) {
	ring, was, next := x.ring, x.was, x.next
	fast, slow, last := x.fast, x.slow, uint(len(ring)-1)
	for taken < len(series) {
		close, middle := series[taken].Close, ring[(next-fast)&last]
		is := was + (close-middle)*x.byBoth + (ring[(next-slow)&last]-middle)*x.byFast
		if (x.calm-close)|(was^is) < 0 || was == 0 {
			if close > x.calm || crossed(was, is) != 0 {
				break
			}
		}
		ring[next&last] = close
		was, next = is, next+1
		taken++
	}
	x.was, x.next = was, next
	return taken
}

// straight takes candles while the difference stays strictly on its side. Where the place of one of
// the three closes wraps, it ends.
func (x *Cross) straight(series []market.Candle) (taken int) {
	was, side, calm := x.was, x.was>>63|1, x.calm
	if was == 0 {
		return 0
	}
	last := uint(len(x.ring) - 1)
	at, middle, oldest := x.next&last, (x.next-x.fast)&last, (x.next-x.slow)&last
	n := min(len(series), len(x.ring)-int(max(at, middle, oldest)))
	series = series[:n]
	into, middles, olds := x.ring[at:][:n], x.ring[middle:][:n], x.ring[oldest:][:n]
	was, byBoth, byFast := was*side, x.byBoth*side, x.byFast*side // the loop knows one side: above zero
	for ; taken < n; taken++ {
		close, leaves := series[taken].Close, middles[taken]
		is := was + (close-leaves)*byBoth + (olds[taken]-leaves)*byFast
		if (is-1)|(calm-close) < 0 {
			break
		}
		into[taken], was = close, is
	}
	x.was, x.next = was*side, x.next+uint(taken)
	return taken
}

// crossed compares two differences in a row.
func crossed(was, is market.Price) Direction {
	switch {
	case was <= 0 && is > 0:
		return Up
	case was >= 0 && is < 0:
		return Down
	}
	return 0
}

// take adds a close.
func (x *Cross) take(close, is market.Price) {
	x.ring[x.next&uint(len(x.ring)-1)] = close
	x.was, x.next = is, x.next+1
}

// Ready reports whether the next Push can report a cross.
func (x *Cross) Ready() bool { return x.next >= x.slow }

// Warmup is slow+1: the close at which the first cross can be reported.
func (x *Cross) Warmup() int { return int(x.slow) + 1 }

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
