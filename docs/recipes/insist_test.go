package recipes_test

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// recipe
type insist struct{ strategy.Base }

func (insist) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	if m.Flat() {
		price := c.Close.Below(1 * market.Percent)
		id, err := m.Buy(strategy.EquityShare(20*market.Percent), strategy.At(price))
		if err == nil {
			d.Timer(d.Now().Add(3*time.Hour), int64(id))
		}
	}
}

func (insist) OnTimer(d *strategy.Desk, name int64) {
	id := market.OrderID(name)
	if o, open := d.Order(id); open {
		d.In(o.Market).Buy(strategy.Amount(o.AmountRemaining), strategy.Replacing(id))
	}
}

// end

var insistDefinition = strategy.Define("insist", "buys at a limit, and after a while at market",
	func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return insist{}, nil })
