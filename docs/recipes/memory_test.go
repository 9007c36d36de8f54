package recipes_test

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// recipe
type known struct{ Sold market.Price } // exported: saved

type memory struct {
	strategy.Base
	strategy.PerMarket[known] // embedded: has Save and Load
}

func (s *memory) OnCandle(d *strategy.Desk, c market.Candle) {
	m, k := d.In(c.Market), s.In(c.Market)
	switch {
	case m.Flat() && (k.Sold == 0 || c.Close < k.Sold.Below(4*market.Percent)):
		m.Buy(strategy.EquityShare(50 * market.Percent))
	case m.Held() > 0 && c.Close > m.Cost().Above(3*market.Percent):
		m.Close()
	}
}

func (s *memory) OnFill(_ *strategy.Desk, f market.Fill) {
	if f.Side == market.Sell {
		s.In(f.Market).Sold = f.Price
	}
}

// end

var memoryDefinition = strategy.Define("memory", "buys back only below its last sale",
	func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		return &memory{PerMarket: strategy.Each(s, func(market.Market) known { return known{} })}, nil
	})
