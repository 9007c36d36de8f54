package indicator

import (
	"fmt"
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// limit is the largest price, above or below 0, whose sums an indicator has room for.
type limit uint64

// room is the limit of an indicator whose sums are at most n times the largest price in them.
func room(n int) limit { return limit(math.MaxInt64 / n) }

// hold panics if a price is beyond the limit: a sum with it could overflow an int64.
func (l limit) hold(p market.Price) {
	if uint64(p) > uint64(l) { // or below 0
		l.holdBelow(p)
	}
}

// holdBelow is hold for a price that is below 0, or beyond the limit.
//
//go:noinline
func (l limit) holdBelow(p market.Price) {
	if p >= 0 || uint64(-p) > uint64(l) {
		l.refuse(p)
	}
}

func (l limit) refuse(p market.Price) {
	panic(fmt.Sprintf("indicator: %d is beyond %d, up to which sums over windows of these lengths are exact; it needs "+
		"at least %d fewer decimals (prices: bot candles import --replace --price-digits)",
		p, l, len(fmt.Sprint(uint64(max(p, -p))/uint64(l)))))
}
