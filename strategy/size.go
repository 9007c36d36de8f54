package strategy

import (
	"fmt"
	"math/bits"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/market"
)

// Whole is the Rate of one: all of it.
const Whole = market.Rate(100_000_000)

// ShareOf converts a fraction such as 0.99 exactly; more than eight decimals are refused.
func ShareOf(fraction decimal.Decimal) (market.Rate, error) {
	n, err := market.FromDecimal(fraction, market.RateDigits)
	return market.Rate(n), err
}

// BpsOf converts hundredths of a percent exactly: 12.5 is a Rate of 0.00125. More than four
// decimals are refused.
func BpsOf(bps decimal.Decimal) (market.Rate, error) {
	rate, err := ShareOf(bps.Shift(-4))
	if err != nil {
		return 0, fmt.Errorf("%s bps: %w", bps, err)
	}
	return rate, nil
}

// Affordable returns ⌊share·cash ÷ price⌋, rounded down to the market's QuantityDecimals and never
// rounded before. It is 0 where cash, share or price is not positive, where share exceeds one, and
// where the amount leaves int64. It does not include fees: leave room for them in share.
//
// With a distance for the price it is the amount that loses share·cash when the price falls by that
// distance.
func Affordable(m market.Market, cash market.Money, share market.Rate, price market.Price) market.Qty {
	return AffordableIn(&m, cash, share, price)
}

// AffordableIn is Affordable without a copy of the market.
func AffordableIn(m *market.Market, cash market.Money, share market.Rate, price market.Price) market.Qty {
	if cash <= 0 || price <= 0 || share <= 0 || share > Whole {
		return 0
	}
	amount, err := atPrice(m, m.MoneyValue(cash).Part(int64(share), int64(Whole)), int64(price))
	if err != nil {
		return 0
	}
	return market.FloorDigits(market.Qty(amount), m.AmountDigits, m.QuantityDecimals)
}

// AveragePrice is the cost of a unit of the position, fees included, rounded down; 0 without a
// position.
func AveragePrice(m market.Market, p market.Position) market.Price {
	if p.Amount <= 0 || p.Cost.Sign() <= 0 {
		return 0
	}
	price, err := atPrice(&m, p.Cost, int64(p.Amount))
	if err != nil {
		return 0
	}
	return market.Price(price)
}

// atPrice divides an exact value by a price, which gives an amount, or by an amount, which gives a
// price. A floor of a floor is the floor of the whole. Where the quote asset has the finest digits,
// the value fits a Money.
func atPrice(m *market.Market, value market.Value, by int64) (int64, error) {
	drop := m.ValueDigits - m.PriceDigits - m.AmountDigits
	if drop == 0 {
		return value.FloorQuo(by, 0)
	}
	money, err := value.FloorMoney(drop)
	if err != nil {
		return 0, err
	}
	return market.ValueOf(int64(money)).FloorQuo(by, 0)
}

// Tradable returns amount rounded down to the market's QuantityDecimals, or 0 where an order over
// it at price would be below the market's minimum (dust).
func Tradable(m market.Market, amount market.Qty, price market.Price) market.Qty {
	amount = market.FloorDigits(amount, m.AmountDigits, m.QuantityDecimals)
	if amount <= 0 || amount < m.MinOrderInBase {
		return 0
	}
	value, err := m.Value(price, amount)
	if err != nil || value.Cmp(m.MoneyValue(m.MinOrderInQuote)) < 0 {
		return 0
	}
	return amount
}

// Fraction returns price·rate, rounded towards zero. It panics where the result leaves int64, which
// no rate below one can.
func Fraction(price market.Price, rate market.Rate) market.Price {
	if units, _, small := smallFraction(price, rate); small {
		return units
	}
	part := fractionOf(price, rate)
	if part.Sign() < 0 {
		return -toPrice(part.Neg().FloorMoney)
	}
	return toPrice(part.FloorMoney)
}

// Below returns price·(1−rate), rounded down, as for a buy below a price.
func Below(price market.Price, rate market.Rate) market.Price {
	if units, _, small := smallFraction(price, Whole-rate); small {
		return units
	}
	return toPrice(fractionOf(price, Whole-rate).FloorMoney)
}

// Above returns price·(1+rate), rounded up: where to sell that far above a price. It panics where
// the result leaves int64.
func Above(price market.Price, rate market.Rate) market.Price {
	if units, rest, small := smallFraction(price, Whole+rate); small {
		if rest {
			units++
		}
		return units
	}
	return toPrice(fractionOf(price, Whole+rate).CeilMoney)
}

// smallFraction is price·rate, rounded down, and whether the rounding took anything away. small: it
// was reckoned in 64 bits; otherwise neither means anything.
func smallFraction(price market.Price, rate market.Rate) (units market.Price, rest, small bool) {
	hi, lo := bits.Mul64(uint64(price), uint64(rate))
	return market.Price(lo / uint64(Whole)), lo%uint64(Whole) != 0, hi == 0 && price >= 0 && rate >= 0
}

// fractionOf is price·rate in units finer by RateDigits.
func fractionOf(price market.Price, rate market.Rate) market.Value {
	v, err := market.ValueOf(int64(price)).MulRate(rate)
	if err != nil {
		panic(fmt.Sprintf("fraction %d of price %d: %v", rate, price, err))
	}
	return v
}

func toPrice(round func(drop uint8) (market.Money, error)) market.Price {
	price, err := round(market.RateDigits)
	if err != nil {
		panic(fmt.Sprintf("fraction of a price: %v", err))
	}
	return market.Price(price)
}

// RoundPrice rounds to the market's tick as the gate does: a buy down, a sell up. What the desk was
// asked for then equals what rests.
func RoundPrice(m market.Market, side market.Side, price market.Price) market.Price {
	if side == market.Buy {
		return market.FloorTo(price, m.TickSize)
	}
	return market.CeilTo(price, m.TickSize)
}
