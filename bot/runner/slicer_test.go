package runner

import (
	"math/rand/v2"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// slicerParams are the parameters of slicerKind.
type slicerParams struct {
	Seed   int64 `toml:"seed" default:"1" min:"0" doc:"of what it does"`
	Inside bool  `toml:"inside" default:"false" doc:"the times of its tactics lie inside candles"`
}

// slicerKind is a strategy that buys or sells an amount of base by a tactic, at every fifth close:
// a TWAP, or a maker's order whose rest is taken after a time. Or it buys with an exit after a
// time. All has ended by the fifth close after it.
var slicerKind = strategy.Define("slicer", "buys and sells by tactics that end by a time",
	func(slicerParams) strategy.Needs { return strategy.Needs{} },
	func(p slicerParams, s strategy.Setup) (strategy.Strategy, error) { return &slicer{params: p}, nil })

type slicer struct {
	strategy.Base
	params slicerParams
}

func (s *slicer) OnCandle(d *strategy.Desk, c market.Candle) {
	if market.Interval5m.Floor(c.End()) != c.End() {
		return
	}
	m, chance := d.In(c.Market), rand.New(rand.NewPCG(uint64(s.params.Seed), uint64(c.Start)))
	side, amount := market.Buy, m.AmountOf(strategy.Money(400_00+market.Money(chance.IntN(600_00))), c.Close)
	if have := m.Position().Amount; have > 0 && chance.IntN(2) == 0 {
		side, amount = market.Sell, have
	}
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	var with []strategy.Option
	switch {
	case s.params.Inside:
		with = []strategy.Option{strategy.TWAP(time.Duration(60+chance.IntN(120))*time.Second, 2+chance.IntN(5))}
	case side == market.Buy && chance.IntN(3) == 0: // an exit after a time, at an open
		with = []strategy.Option{strategy.StopAt(c.Close - 3*m.Market().TickSize),
			strategy.ExitAfterTime(minutes(1 + chance.IntN(4)))}
	case chance.IntN(2) == 0:
		parts := 2 + chance.IntN(3)
		with = []strategy.Option{strategy.TWAP(minutes(parts), parts)}
	default:
		with = []strategy.Option{strategy.MakerFirst(minutes(9)), strategy.TakeAfter(minutes(1 + chance.IntN(4)))}
	}
	_, _ = m.Place(side, strategy.Amount(amount), with...)
}
