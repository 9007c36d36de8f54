package indicator

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// KAMA is Kaufman's adaptive moving average: an exponential average that is fast (weight 2/3,
// squared) where the price of n pushes ago lies as far away as all moves since, and slow (weight
// 2/31, squared) where the moves led nowhere. It starts with the n-th price.
type KAMA struct {
	line
	ring   ring[market.Price]
	last   market.Price
	before market.Price // the price before the oldest of the ring
	moves  market.Price // Σ of the last n moves
	seen   int          // up to n+1
	limit  limit
}

// NewKAMA returns an average over n moves; 10 is usual. It panics where n is below 1.
func NewKAMA(n int) KAMA { return KAMA{ring: newRing[market.Price](n), limit: room(2 * n)} }

// Push takes the next price. It panics if the sum of 2·n such prices overflows an int64.
func (k *KAMA) Push(p market.Price) {
	k.limit.hold(p)
	n := len(k.ring.list)
	old := k.ring.push(p)
	if k.seen > 0 {
		k.moves += distance(p, k.last)
	}
	if k.seen > n {
		k.moves -= distance(old, k.before)
	}
	k.last, k.before = p, old
	if k.seen < n {
		k.level = Level(p)
	} else {
		k.level += Level(pace(p-old, k.moves) * (float64(p) - float64(k.level)))
	}
	k.seen = min(k.seen+1, n+1)
}

// pace is the weight of the next price.
func pace(change, moves market.Price) float64 {
	efficiency := 1.0
	if moves > 0 {
		efficiency = float64(distance(change, 0)) / float64(moves)
	}
	return weightAt(efficiency)
}

func weightAt(efficiency float64) float64 {
	const slow, fast = 2.0 / 31, 2.0 / 3
	weight := float64(efficiency*(fast-slow)) + slow
	return weight * weight
}

func distance(a, b market.Price) market.Price { return max(a-b, b-a) }

// Ready reports whether n+1 prices were pushed.
func (k *KAMA) Ready() bool { return k.seen > len(k.ring.list) }

// Warmup is n and what an average of the weight takes that KAMA has in a random walk, whose n moves
// lead 1/√n of their sum away: 113 for n = 10. In a market that goes sideways for long it forgets
// more slowly.
func (k *KAMA) Warmup() int {
	n := len(k.ring.list)
	return n + decayed(1-weightAt(1/math.Sqrt(float64(n))))
}
