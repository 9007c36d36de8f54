package indicator

import (
	"fmt"
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// WMA is the linearly weighted moving average of the last n prices: the newest has weight n, the
// oldest 1.
type WMA struct {
	line
	sums  weighted
	limit limit
}

// NewWMA returns an average over n prices. It panics where n is below 1.
func NewWMA(n int) WMA { return WMA{sums: newWeighted(n), limit: room(n)} }

// Push takes the next price. It panics if the sum of n such prices overflows an int64.
func (w *WMA) Push(p market.Price) {
	w.limit.hold(p)
	w.sums.push(wide(p))
	w.level = Level(w.sums.weighted.float() / float64(w.sums.weights()))
}

// Ready reports whether n prices were pushed.
func (w *WMA) Ready() bool { return w.sums.full }

// Warmup is n.
func (w *WMA) Warmup() int { return len(w.sums.list) }

// HMA is Hull's moving average: the WMA over √n of twice the WMA over n/2 less the WMA over n, all
// lengths rounded down. It follows a trend closely, and can lie outside the prices.
type HMA struct {
	line
	half, full, last weighted
	limit            limit
}

// NewHMA returns an average over n prices. It panics where n is below 2 or above 100,000, where its
// sums have no room.
func NewHMA(n int) HMA {
	if n > 100_000 {
		panic(fmt.Sprintf("indicator: a HMA over %d prices", n))
	}
	return HMA{half: newWeighted(atLeast(2, n) / 2), full: newWeighted(n),
		last: newWeighted(int(math.Sqrt(float64(n)))), limit: room(n)}
}

// Push takes the next price. It panics if the sum of n such prices overflows an int64.
func (h *HMA) Push(p market.Price) {
	h.limit.hold(p)
	h.half.push(wide(p))
	h.full.push(wide(p))
	if !h.full.full {
		return
	}
	// both averages over their common denominator: integers, which leave no rest in the last sum
	half, full := h.half.weights(), h.full.weights()
	h.last.push(h.half.weighted.times(2 * full).minus(h.full.weighted.times(half)))
	h.level = Level(h.last.weighted.float() / float64(h.last.weights()) / float64(half) / float64(full))
}

// Ready reports whether as many prices were pushed as Warmup says.
func (h *HMA) Ready() bool { return h.last.full }

// Warmup is n+√n−1, √n rounded down.
func (h *HMA) Warmup() int { return len(h.full.list) + len(h.last.list) - 1 }

// weighted is the sum of a window and its sum with weights that rise from 1 for the oldest value to
// n for the newest.
type weighted struct {
	ring[int128]
	sum, weighted int128
}

func newWeighted(n int) weighted { return weighted{ring: newRing[int128](n)} }

// push adds a value: each older one loses a weight, and the oldest its last.
func (w *weighted) push(x int128) {
	old := w.ring.push(x)
	w.weighted = w.weighted.plus(x.times(len(w.list))).minus(w.sum)
	w.sum = w.sum.plus(x).minus(old)
}

// weights is the sum of the weights.
func (w *weighted) weights() int { return len(w.list) * (len(w.list) + 1) / 2 }
