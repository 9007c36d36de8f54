package indicator

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// Level is a price as a figure: in the market's price units, with the fraction of a unit that a
// mean has. Figures that are one price embed it.
type Level float64

// Value is the level as a number.
func (l Level) Value() float64 { return float64(l) }

// Below is the price that lies rate below the level, rounded down to a whole price unit.
func (l Level) Below(rate market.Rate) market.Price { return floor(float64(l), whole-rate) }

// Above is the price that lies rate above the level, rounded up to a whole price unit.
func (l Level) Above(rate market.Rate) market.Price { return -floor(-float64(l), whole+rate) }

// whole is a rate of 100 %.
const whole market.Rate = 100_000_000

// floor is value·factor ÷ 10^8, rounded down, and at most an int64. FMA gives what product and
// quotient lose by rounding, so that 5 % below 30,000 is 28,500 and not one unit less.
func floor(value float64, factor market.Rate) market.Price {
	by := float64(factor)
	product := value * by
	quotient := math.Floor(product / float64(whole))
	if math.Abs(quotient) > math.MaxInt64-4096 {
		return market.Price(math.Copysign(1, quotient)) * math.MaxInt64
	}
	rest := math.FMA(-quotient, float64(whole), product) + math.FMA(value, by, -product)
	return market.Price(quotient) + market.Price(math.Floor(rest/float64(whole)))
}
