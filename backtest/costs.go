package backtest

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// maxCosts is how many markets an assumption names whose costs their ticks make higher.
const maxCosts = 4

// roundedCosts say what half the spread and the slippage come to, at the last price, in markets
// whose tick makes that a tenth more than what was set.
func (d *driver) roundedCosts() (lines []string) {
	v := d.plan.Venue
	spread, set := exchange.Spread{Half: v.HalfSpread, Slippage: v.Slippage}, v.HalfSpread+v.Slippage
	if set == 0 || d.live {
		return nil
	}
	for _, m := range d.plan.Catalog.Markets() {
		last := d.account.Last(m.ID)
		if last == 0 || len(lines) == maxCosts {
			continue
		}
		bps := func(of market.Price) float64 { return 1e4 * float64(of) / float64(last) }
		cost := spread.Paid(market.Buy, last, m.TickSize) - last
		if stated := float64(set) / 1e4; bps(cost) > 1.1*stated {
			const line = "%s: half the spread and the slippage, %s bps, come to %s bps at its last price: " +
				"a tick is %s bps, and prices are on ticks."
			lines = append(lines, fmt.Sprintf(line, m.Name, significant(stated), significant(bps(cost)),
				significant(bps(m.TickSize))))
		}
	}
	return lines
}
