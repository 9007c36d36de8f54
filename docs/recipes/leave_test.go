package recipes_test

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// recipe
type leave struct {
	strategy.Base
	mean strategy.PerMarket[indicator.SMA]
}

func (s *leave) OnCandle(d *strategy.Desk, c market.Candle) {
	m, mean := d.In(c.Market), s.mean.In(c.Market)
	mean.Push(c.Close)
	switch {
	case !mean.Ready():
	case m.Flat() && c.Close > mean.Above(2*market.Percent):
		m.Buy(strategy.EquityShare(50*market.Percent), strategy.StopAt(c.Close.Below(4*market.Percent)))
	case m.Held() > 0 && c.Close < mean.Below(0):
		m.Close()
	}
}

// end

var leaveDefinition = strategy.Define("leave", "buys above its mean, leaves below it",
	func(struct{}) strategy.Needs { return strategy.Needs{Warmup: 5} },
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		return &leave{mean: strategy.Each(s, func(market.Market) indicator.SMA { return indicator.NewSMA(5) })}, nil
	})
