package runner

import (
	"math/rand/v2"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// leaverKind is a strategy that enters with a bracket or without one, and leaves by Close: all, or
// a part, or while the entry rests. What it does hangs on its seed, the candle and what it has.
var leaverKind = strategy.Define("leaver", "enters and leaves by chance",
	func(restlessParams) strategy.Needs { return strategy.Needs{} },
	func(p restlessParams, s strategy.Setup) (strategy.Strategy, error) {
		return &leaver{seed: uint64(p.Seed)}, nil
	})

type leaver struct {
	strategy.Base
	seed uint64
}

func (s *leaver) OnCandle(d *strategy.Desk, c market.Candle) {
	m, chance := d.In(c.Market), rand.New(rand.NewPCG(s.seed, uint64(c.Start)))
	ticks := func(least, most int) market.Price {
		return c.Close + m.Market().TickSize*market.Price(least+chance.IntN(most-least+1))
	}
	amount := strategy.Amount(m.AmountOf(strategy.Money(400_00+market.Money(chance.IntN(600_00))), c.Close))
	have, keep := m.Position().Amount, strategy.Keep(market.Leg(chance.IntN(2)))
	flat := have == 0 && len(m.OpenOrders()) == 0
	switch draw := chance.IntN(8); {
	case flat && draw < 4:
		_, _ = m.Buy(amount, strategy.Exits(ticks(-5, -2), ticks(2, 5)), keep)
	case flat && draw < 7:
		_, _ = m.Buy(amount, strategy.Exits(ticks(-6, -4), ticks(2, 5)), strategy.At(ticks(-2, 0)), keep)
	case flat:
		_, _ = m.Buy(amount)
	case draw < 2:
		_ = m.Close(strategy.Tag("all"))
	case draw < 4:
		_ = m.ClosePart(strategy.Amount(have / market.Qty(2+chance.IntN(3))))
	case draw == 4:
		_, _ = m.Protect(strategy.Exits(ticks(-4, -1), ticks(1, 4)), keep)
	}
}
