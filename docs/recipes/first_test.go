package recipes_test

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// recipe
type first struct {
	strategy.Base
	mean strategy.PerMarket[indicator.SMA]
}

func (s *first) OnCandle(d *strategy.Desk, c market.Candle) {
	m, mean := d.In(c.Market), s.mean.In(c.Market)
	mean.Push(c.Close)
	switch {
	case !mean.Ready() || m.Working():
	case m.Flat() && c.Close > mean.Above(1*market.Percent):
		m.Buy(strategy.EquityShare(40*market.Percent), strategy.MakerFirst(30*time.Second),
			strategy.TakeAfter(2*time.Hour), strategy.TakeBeyond(1*market.Percent),
			strategy.StopAt(c.Close.Below(5*market.Percent)))
	case m.Held() > 0 && c.Close < mean.Below(0):
		m.Close()
	}
}

// end

var firstDefinition = strategy.Define("first", "enters as a maker first",
	func(struct{}) strategy.Needs { return strategy.Needs{Warmup: 3} },
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		fresh := func(market.Market) indicator.SMA { return indicator.NewSMA(3) }
		return &first{mean: strategy.Each(s, fresh)}, nil
	})
