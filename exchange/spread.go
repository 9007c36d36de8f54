package exchange

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// Spread is what a market order pays beyond the latest price: half the distance between bid and
// ask, and slippage beyond those, as fractions of the price. The simulated venue fills by it and
// the gate reckons with it. The zero Spread is none.
type Spread struct {
	Half, Slippage market.Rate
}

// Offered is the house's bid or ask around a price, for a taker of that side; half the spread is
// rounded up.
func (s Spread) Offered(side market.Side, price market.Price) market.Price {
	if s.Half == 0 {
		return price
	}
	return worse(side, price, s.Half)
}

// Taken is what a taker of that side pays or gets where the house offers a price; the slippage is
// rounded up. Where there is no price, 0, it is 0.
func (s Spread) Taken(side market.Side, offered market.Price) market.Price {
	if s.Slippage == 0 || offered == 0 {
		return offered
	}
	return max(1, worse(side, offered, s.Slippage))
}

// worse is a price that a taker of that side likes less, by a fraction of the price.
func worse(side market.Side, price market.Price, rate market.Rate) market.Price {
	if side == market.Buy {
		return AddSaturating(price, Share(price, rate))
	}
	return price - Share(price, rate)
}

// Share returns rate·p rounded up, at most p where that leaves an int64.
func Share(p market.Price, rate market.Rate) market.Price {
	if rate == 0 {
		return 0
	}
	return partOf(p, rate)
}

func partOf(p market.Price, rate market.Rate) market.Price {
	exact, err := market.ValueOf(int64(p)).MulRate(rate)
	if err != nil {
		return p
	}
	money, err := exact.CeilMoney(market.RateDigits)
	if err != nil {
		return p
	}
	return market.Price(money)
}

// AddSaturating returns a price that much higher, or the highest there is: nobody can pay it, which is
// better than a price that has wrapped to below zero.
func AddSaturating(p, by market.Price) market.Price {
	if by > math.MaxInt64-p {
		return math.MaxInt64
	}
	return p + by
}
