package recipes_test

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// recipe
type rangesLines struct {
	highest indicator.Highest
	atr     indicator.ATR
}

type ranges struct {
	strategy.Base
	lines strategy.PerMarket[rangesLines]
}

func (s *ranges) OnCandle(d *strategy.Desk, c market.Candle) {
	m, x := d.In(c.Market), s.lines.In(c.Market)
	x.atr.Push(c)
	if highest := x.highest.Above(0); !m.Warming() && m.Flat() && c.Close > highest {
		reach := x.atr.Times(2)
		m.Buy(strategy.UpTo(strategy.Risk(1*market.Percent)), strategy.StopAt(c.Close-reach), strategy.TrailBy(reach))
	}
	x.highest.Push(c.Close) // afterwards: the highest of the closes before this one
}

// end

var rangesDefinition = strategy.Define("ranges", "buys a new high with a stop of two ranges",
	func(struct{}) strategy.Needs {
		atr := indicator.NewATR(2)
		return strategy.Needs{Warmup: atr.Warmup()}
	},
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		made := func(market.Market) rangesLines {
			return rangesLines{highest: indicator.NewHighest(5), atr: indicator.NewATR(2)}
		}
		return &ranges{lines: strategy.Each(s, made)}, nil
	})
