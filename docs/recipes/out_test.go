package recipes_test

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// recipe
type out struct {
	strategy.Base
	high strategy.PerMarket[indicator.Highest]
}

func (s *out) OnCandle(d *strategy.Desk, c market.Candle) {
	m, high := d.In(c.Market), s.high.In(c.Market)
	if high.Ready() && m.Flat() && c.Close > high.Above(0) {
		m.Buy(strategy.EquityShare(50*market.Percent),
			strategy.StopAt(c.Close.Below(4*market.Percent)), strategy.BreakEvenAfter(4*market.Percent),
			strategy.PartAt(c.Close.Above(3*market.Percent), 50*market.Percent),
			strategy.TargetAt(c.Close.Above(8*market.Percent)))
	}
	high.Push(c.Close) // afterwards: the highest close before this one
}

// end

var outDefinition = strategy.Define("out", "sells a half early and the rest at a target",
	func(struct{}) strategy.Needs { return strategy.Needs{Warmup: 6} },
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		made := func(market.Market) indicator.Highest { return indicator.NewHighest(5) }
		return &out{high: strategy.Each(s, made)}, nil
	})
