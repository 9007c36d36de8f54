package indicator

import "github.com/tidemark-trading/tidemark/market"

// CCI is Lambert's commodity channel index: how far the typical price (high+low+close) ÷ 3 lies
// from its mean over n candles, in units of 0.015 mean absolute deviations. Most of the time it is
// between -100 and 100.
type CCI struct {
	ring  ring[market.Price] // three times the typical price
	sum   market.Price
	value float64
	limit limit
}

// NewCCI returns an index over n candles; 20 is usual. It panics where n is below 2.
func NewCCI(n int) CCI { return CCI{ring: newRing[market.Price](atLeast(2, n)), limit: room(3 * n)} }

// Push takes the next candle. It reads all n: their mean moves with each. It panics where 3·n such
// prices leave an int64.
func (x *CCI) Push(c market.Candle) {
	x.limit.hold(c.High)
	n, now := market.Price(len(x.ring.list)), typical3(c)
	x.sum += now - x.ring.push(now)
	apart := 0.0
	for _, p := range x.ring.list {
		apart += float64(distance(n*p, x.sum))
	}
	if x.value = 0; apart > 0 {
		x.value = float64(n*now-x.sum) / (0.015 * (apart / float64(n)))
	}
}

// Ready reports whether n candles were pushed.
func (x *CCI) Ready() bool { return x.ring.full }

// Value is the index, 0 where all typical prices are equal.
func (x *CCI) Value() float64 { return x.value }

// Warmup is n.
func (x *CCI) Warmup() int { return len(x.ring.list) }
