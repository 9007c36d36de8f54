package recipes_test

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// recipe
type risk struct {
	strategy.Base
	channel strategy.PerMarket[indicator.Donchian]
}

func (s *risk) OnCandle(d *strategy.Desk, c market.Candle) {
	m, channel := d.In(c.Market), s.channel.In(c.Market)
	if stop := channel.Low(); channel.Ready() && m.Flat() && c.Close > channel.High() {
		m.Buy(strategy.UpTo(strategy.Risk(1*market.Percent)), strategy.StopAt(stop),
			strategy.TargetAt(c.Close+2*(c.Close-stop)))
	}
	channel.Push(c) // afterwards: the channel of the candles before this one
}

// end

var riskDefinition = strategy.Define("risk", "risks one percent on a new high",
	func(struct{}) strategy.Needs { return strategy.Needs{Warmup: 6} },
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		made := func(market.Market) indicator.Donchian { return indicator.NewDonchian(5) }
		return &risk{channel: strategy.Each(s, made)}, nil
	})
