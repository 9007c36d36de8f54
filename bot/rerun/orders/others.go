package orders

import (
	"slices"

	"github.com/tidemark-trading/tidemark/exchange/footprint"
	"github.com/tidemark-trading/tidemark/market"
)

// Others takes the orders of the log out of recorded markets, in the units of a catalog. Markets
// that the catalog lacks, or has in other units, stay as they are. Orders of paper mode never met
// the recorded markets: nothing is taken out for them.
func (l *Log) Others(of *market.Catalog) *footprint.Markets {
	m := footprint.New(of)
	if l.Paper {
		return m
	}
	for _, o := range l.Orders {
		own := l.Catalog.Market(o.Market)
		there := of.MarketNamed(own.Name)
		if there == nil || there.PriceDigits != own.PriceDigits || there.AmountDigits != own.AmountDigits {
			continue
		}
		moved := *o
		moved.Market, moved.Fills = there.ID, slices.Clone(o.Fills)
		for i := range moved.Fills {
			moved.Fills[i].Market = there.ID
		}
		moved.tell(m)
	}
	return m
}
