package exchange

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// Spread is the cost of a market order beyond the latest price, as fractions of the price: half the
// distance between bid and ask, and slippage beyond those. The simulated venue fills at it, and the
// gate counts with it. The zero Spread costs nothing.
type Spread struct {
	Half, Slippage market.Rate
}

// Offered is the bid or ask around a price, for a taker of that side; half the spread is rounded
// up.
func (s Spread) Offered(side market.Side, price market.Price) market.Price {
	if s.Half == 0 {
		return price
	}
	return worse(side, price, s.Half)
}

// Taken is the price that a taker of that side pays or gets at an offered price; the slippage is
// rounded up. An offered price of 0 is no offer and gives 0.
func (s Spread) Taken(side market.Side, offered market.Price) market.Price {
	if s.Slippage == 0 || offered == 0 {
		return offered
	}
	return max(1, worse(side, offered, s.Slippage))
}

// Paid is the price that a taker of that side pays or gets around a price that has no bid and ask:
// half the spread and the slippage together, rounded once, up to a tick.
func (s Spread) Paid(side market.Side, price, tick market.Price) market.Price {
	if s.Half+s.Slippage == 0 || price == 0 {
		return price
	}
	return s.paid(side, price, tick)
}

// paid is Paid for a spread that costs something.
func (s Spread) paid(side market.Side, price, tick market.Price) market.Price {
	paid := worse(side, price, s.Half+s.Slippage)
	if side == market.Buy {
		return market.CeilTo(paid, tick)
	}
	return max(1, market.FloorTo(paid, tick))
}

// Met is what a taker of that side pays or gets: Taken at an offered price, or Paid around the last
// one where none is known, as 0.
func (s Spread) Met(side market.Side, offered, last, tick market.Price) market.Price {
	if offered != 0 {
		return s.Taken(side, offered)
	}
	return s.Paid(side, last, tick)
}

// worse moves a price against a taker of that side by a fraction of it.
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

// AddSaturating returns p+by, or the highest price where the sum would overflow.
func AddSaturating(p, by market.Price) market.Price {
	if by > math.MaxInt64-p {
		return math.MaxInt64
	}
	return p + by
}
