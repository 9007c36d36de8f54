package market

import (
	"fmt"
	"math/bits"
	"strings"
)

// Below returns p·(1−rate), rounded down, as for a buy below a price. It panics where the result
// leaves int64.
func (p Price) Below(rate Rate) Price {
	if units, _, small := smallPart(p, Whole-rate); small {
		return units
	}
	return fractionOf(p, Whole-rate).price(Value.FloorMoney)
}

// Above returns p·(1+rate), rounded up: where to sell that far above a price. It panics where the
// result leaves int64.
func (p Price) Above(rate Rate) Price {
	if units, rest, small := smallPart(p, Whole+rate); small {
		if rest {
			units++
		}
		return units
	}
	return fractionOf(p, Whole+rate).price(Value.CeilMoney)
}

// Part returns p·rate, rounded towards zero. It panics where the result leaves int64, which no rate
// of up to 100 % can.
func (p Price) Part(rate Rate) Price {
	if units, _, small := smallPart(p, rate); small {
		return units
	}
	part := fractionOf(p, rate)
	if part.exact.Sign() < 0 {
		part.exact = part.exact.Neg()
		return -part.price(Value.FloorMoney)
	}
	return part.price(Value.FloorMoney)
}

// smallPart is p·rate, rounded down, and whether the rounding took anything away. small: 64 bits
// hold the product; otherwise neither means anything.
func smallPart(p Price, rate Rate) (units Price, rest, small bool) {
	hi, lo := bits.Mul64(uint64(p), uint64(rate))
	return Price(lo / uint64(Whole)), lo%uint64(Whole) != 0, hi == 0 && p >= 0 && rate >= 0
}

// fraction is price·rate in units finer by RateDigits.
type fraction struct {
	exact Value
	of    Price
	rate  Rate
}

func fractionOf(p Price, rate Rate) fraction {
	return fraction{product(int64(p), int64(rate)), p, rate}
}

func (f fraction) price(round func(v Value, drop uint8) (Money, error)) Price {
	rounded, err := round(f.exact, RateDigits)
	if err != nil {
		panic(fmt.Sprintf("market: %s of price %d: %v", f.rate, f.of, err))
	}
	return Price(rounded)
}

// ParseRate reads a rate with its unit, "5%", "0.25 %" or "12.5bps" (basis points), or as a plain
// fraction, "0.05", exactly. Errors are those of ParseFixed.
func ParseRate(text string) (Rate, error) {
	number, digits := strings.TrimSpace(text), uint8(RateDigits)
	if cut, found := strings.CutSuffix(number, "%"); found {
		number, digits = strings.TrimSpace(cut), RateDigits-2
	} else if cut, found = strings.CutSuffix(number, "bps"); found {
		number, digits = strings.TrimSpace(cut), RateDigits-4
	}
	n, err := ParseFixed(number, digits)
	return Rate(n), err
}

// String writes the rate in percent, as ParseRate reads it: "0.25%".
func (r Rate) String() string { return FormatFixed(int64(r), RateDigits-2) + "%" }
