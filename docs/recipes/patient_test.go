package recipes_test

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// recipe
type patient struct{ strategy.Base }

func (patient) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	switch {
	case m.Flat():
		price := c.Close.Below(1 * market.Percent)
		id, err := m.Buy(strategy.EquityShare(20*market.Percent), strategy.At(price), strategy.PostOnly())
		if err == nil {
			d.Timer(d.Now().Add(3*time.Hour), int64(id))
		}
	case m.Held() > 0 && len(m.OpenOrders()) == 0:
		m.Sell(strategy.PositionShare(market.Whole), strategy.At(c.Close.Above(2*market.Percent)), strategy.PostOnly())
	}
}

func (patient) OnTimer(d *strategy.Desk, name int64) {
	d.Cancel(market.OrderID(name)) // nothing happens if the order has filled
}

// end

var patientDefinition = strategy.Define("patient", "buys and sells as a maker",
	func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return patient{}, nil })
