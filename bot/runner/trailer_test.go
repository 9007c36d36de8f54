package runner

import (
	"time"

	"math/rand/v2"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// trailerKind is a strategy that enters with exits that follow the closes, and now and then changes
// what they follow. What it does hangs on its seed, the candle and what it has.
var trailerKind = strategy.Define("trailer", "enters by chance, with exits that follow",
	func(restlessParams) strategy.Needs { return strategy.Needs{} },
	func(p restlessParams, s strategy.Setup) (strategy.Strategy, error) {
		return &trailer{seed: uint64(p.Seed)}, nil
	})

type trailer struct {
	strategy.Base
	seed uint64
}

func (s *trailer) OnCandle(d *strategy.Desk, c market.Candle) {
	m, chance := d.In(c.Market), rand.New(rand.NewPCG(s.seed, uint64(c.Start)))
	ticks := func(least, most int) market.Price {
		return m.Market().TickSize * market.Price(least+chance.IntN(most-least+1))
	}
	amount := strategy.Amount(m.AmountOf(strategy.Money(400_00+market.Money(chance.IntN(600_00))), c.Close))
	with := []strategy.Option{strategy.Keep(market.Leg(chance.IntN(2))), strategy.TrailBy(ticks(2, 5))}
	if chance.IntN(2) == 0 {
		with = append(with, strategy.TargetAt(c.Close+ticks(2, 6)))
	}
	if chance.IntN(2) == 0 {
		with = append(with, strategy.ExitAfter(1+chance.IntN(6)))
	}
	if chance.IntN(3) == 0 {
		with = append(with, strategy.BreakEvenAfter(10*market.BasisPoint))
	}
	if chance.IntN(3) == 0 {
		with = append(with, strategy.StopAt(c.Close-ticks(4, 9)), strategy.TrailAfter(10*market.BasisPoint))
	}
	if chance.IntN(3) == 0 {
		with = append(with, strategy.EnoughAfter(market.Duration(chance.IntN(3))*time.Minute, 5*market.BasisPoint))
	}
	if chance.IntN(2) == 0 { // its level may be past the target, and is refused then
		with = append(with, strategy.PartAt(c.Close+ticks(1, 3), market.Rate(10+chance.IntN(50))*market.Percent))
	}
	switch open := m.OpenOrders(); {
	case m.Position().Amount == 0 && len(open) == 0:
		if chance.IntN(3) == 0 {
			with = append(with, strategy.At(c.Close-ticks(0, 1)))
		}
		_, _ = m.Buy(amount, with...)
	case len(open) > 0 && chance.IntN(6) == 0:
		_ = d.Update(open[0].ID, strategy.Trail(10*market.BasisPoint), strategy.ExitAfter(8))
	}
}
