package indicator

import (
	"fmt"
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// Level is a price as a figure: in the market's price units, with the fraction of a unit that a
// mean has.
type Level float64

// Value is the level as a number.
func (l Level) Value() float64 { return float64(l) }

// Below is level·(1−rate), rounded down to a whole price unit. It panics where the result leaves
// int64.
func (l Level) Below(rate market.Rate) market.Price { return floor(float64(l), market.Whole-rate) }

// Above is level·(1+rate), rounded up to a whole price unit. It panics where the result leaves
// int64.
func (l Level) Above(rate market.Rate) market.Price { return -floor(-float64(l), market.Whole+rate) }

// floor is value·factor, rounded down. FMA gives what product and quotient lose by rounding, so
// that 5 % below 30,000 is 28,500 and not one unit less.
func floor(value float64, factor market.Rate) market.Price {
	const whole = float64(market.Whole)
	by := float64(factor)
	product := value * by
	quotient := math.Floor(product / whole)
	if !(math.Abs(quotient) < math.MaxInt64-4096) {
		panic(fmt.Sprintf("indicator: %s of level %v leaves int64", factor, value))
	}
	rest := math.FMA(-quotient, whole, product) + math.FMA(value, by, -product)
	return market.Price(quotient) + market.Price(math.Floor(rest/whole))
}

// reach is a difference of prices, rounded up to a whole price unit.
func reach(value float64) market.Price {
	up := math.Ceil(value)
	if !(math.Abs(up) < math.MaxInt64-4096) {
		panic(fmt.Sprintf("indicator: a distance of %v leaves int64", value))
	}
	return market.Price(up)
}

// line is a figure that is one price: a level, and its methods.
type line struct{ level Level }

// Value is the figure as a number, in the market's price units.
func (l *line) Value() float64 { return float64(l.level) }

// Below is value·(1−rate), rounded down to a whole price unit. It panics where the result leaves
// int64.
func (l *line) Below(rate market.Rate) market.Price { return l.level.Below(rate) }

// Above is value·(1+rate), rounded up to a whole price unit. It panics where the result leaves
// int64.
func (l *line) Above(rate market.Rate) market.Price { return l.level.Above(rate) }
