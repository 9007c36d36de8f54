package recipes_test

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// recipe
type steps struct{ Bought, Sold int }

type scale struct {
	strategy.Base
	strategy.PerMarket[steps]
}

func (s *scale) OnCandle(d *strategy.Desk, c market.Candle) {
	m, done := d.In(c.Market), s.In(c.Market)
	part, cost := strategy.EquityShare(20*market.Percent), m.Cost()
	switch {
	case m.Flat():
		*done = steps{Bought: 1}
		m.Buy(part)
	case len(m.OpenOrders()) > 0: // on its way
	case done.Sold == 0 && done.Bought < 3 && c.Close < cost.Below(4*market.Percent):
		done.Bought++
		m.Buy(part)
	case done.Sold == 0 && c.Close > cost.Above(3*market.Percent):
		done.Sold++
		m.Sell(strategy.PositionShare(50 * market.Percent))
	case done.Sold > 0 && c.Close > cost.Above(6*market.Percent):
		m.Close()
	}
}

// end

var scaleDefinition = strategy.Define("scale", "buys in three parts and sells in two",
	func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		return &scale{PerMarket: strategy.Each(s, func(market.Market) steps { return steps{} })}, nil
	})
