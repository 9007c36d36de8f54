package recipes_test

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// recipe
type intervals struct {
	strategy.Base
	days strategy.PerMarket[trend]
}

type trend struct {
	mean indicator.SMA
	up   bool
}

func (s *intervals) OnCandle(d *strategy.Desk, c market.Candle) {
	m, days := d.In(c.Market), s.days.In(c.Market)
	switch {
	case c.Interval == market.Interval1d:
		days.mean.Push(c.Close)
		days.up = days.mean.Ready() && c.Close > days.mean.Above(0)
	case m.Flat() && days.up && c.Close < c.Open.Below(1*market.Percent):
		m.Buy(strategy.EquityShare(50*market.Percent), strategy.StopAt(c.Close.Below(4*market.Percent)),
			strategy.TargetAt(c.Close.Above(2*market.Percent)))
	}
}

var intervalsDefinition = strategy.Define("intervals", "buys the dips of an hour while the days rise",
	func(struct{}) strategy.Needs {
		return strategy.Needs{Intervals: strategy.Intervals{market.Interval1d: 3}}
	},
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		made := func(market.Market) trend { return trend{mean: indicator.NewSMA(3)} }
		return &intervals{days: strategy.Each(s, made)}, nil
	})

// end
