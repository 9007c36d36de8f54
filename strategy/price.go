package strategy

import (
	"github.com/tidemark-trading/tidemark/market"
)

// Price is a price as people write it, for parameters and constants. MarketDesk.Price turns it into
// a market's units; it was checked to be exact in them when the strategy was made.
type Price struct {
	number int64
	digits uint8
}

// ParsePrice reads a price such as "20000" or "0.0125" exactly; errors are those of
// market.ParseFixed.
func ParsePrice(text string) (Price, error) {
	number, digits, err := market.ParseDecimal(text)
	return Price{number, digits}, err
}

// String writes the price as ParsePrice reads it.
func (p Price) String() string { return market.FormatFixed(p.number, p.digits) }

// fits reports whether the price is exact in a market's units.
func (p Price) fits(m *market.Market) error {
	_, err := rescaled(p, p.number, p.digits, m.PriceDigits, m.Name)
	return err
}

func comparePrices(a, b Price) int {
	return market.ToDecimal(a.number, a.digits).Cmp(market.ToDecimal(b.number, b.digits))
}

// Price is a price of a parameter or a constant in the market's units. It panics on a price that
// Setup or Define has not checked and that is not exact in them.
func (m MarketDesk) Price(p Price) market.Price {
	if !m.reads("Price") {
		return 0
	}
	units, err := rescaled(p, p.number, p.digits, m.facts().PriceDigits, m.facts().Name)
	if err != nil {
		panic("strategy: " + err.Error())
	}
	return market.Price(units)
}
