package recipes_test

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// recipe
type seen struct {
	strategy.Base
	bands strategy.PerMarket[indicator.Bollinger]
}

func (s *seen) OnCandle(d *strategy.Desk, c market.Candle) {
	m, bands := d.In(c.Market), s.bands.In(c.Market)
	bands.Push(c.Close)
	if !bands.Ready() {
		return
	}
	m.Plot("lower band", bands.Lower().Value())
	m.Plot("upper band", bands.Upper().Value())
	switch {
	case m.Flat() && c.Close < bands.Lower().Below(0):
		m.Mark("below the band")
		m.Buy(strategy.EquityShare(50 * market.Percent))
	case m.Held() > 0 && c.Close > bands.Middle().Above(0):
		m.Close()
	}
}

// end

var seenDefinition = strategy.Define("seen", "buys below the lower band, and shows it",
	func(struct{}) strategy.Needs { return strategy.Needs{Warmup: 10} },
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		made := func(market.Market) indicator.Bollinger { return indicator.NewBollinger(10, 2) }
		return &seen{bands: strategy.Each(s, made)}, nil
	})
