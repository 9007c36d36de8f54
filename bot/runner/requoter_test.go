package runner

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// requoterKind is a strategy that rests orders near the market and replaces them: one that rests,
// one that waits for the end of another, one whose cancel is on its way.
var requoterKind = strategy.Define("requoter", "rests orders and replaces them",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p restlessParams, _ strategy.Setup) (strategy.Strategy, error) {
		return &requoter{chance: rand.New(rand.NewPCG(uint64(p.Seed), 6))}, nil
	})

type requoter struct {
	strategy.Base
	chance *rand.Rand
}

func (s *requoter) OnTicker(d *strategy.Desk, t market.Ticker) {
	m, last := d.In(t.Market), t.Last/100*100
	below := strategy.At(last - market.Price(s.chance.IntN(15))*100)
	open := m.OpenOrders()
	switch draw := s.chance.IntN(8); {
	case draw == 0 && len(open) > 0:
		_ = d.Cancel(open[s.chance.IntN(len(open))].ID)
	case draw < 3 && m.Held() > 0:
		_, _ = m.Sell(strategy.Amount(min(1_000_000, m.Held())), strategy.At(last+market.Price(s.chance.IntN(15))*100))
	case draw < 5 && len(open) < 3:
		_, _ = m.Buy(strategy.Amount(1_000_000), below)
	case draw > 2 && len(open) > 0:
		s.replace(m, &open[s.chance.IntN(len(open))], below, last)
	}
}

// replace asks for less, as much, or more than an order still has to trade; a buy may get a stop.
func (s *requoter) replace(m strategy.MarketDesk, old *market.Order, below strategy.Option, last market.Price) {
	size, with := strategy.Amount(old.AmountRemaining*market.Qty(2+s.chance.IntN(3))/3), strategy.Replacing(old.ID)
	switch {
	case old.Side == market.Sell:
		_, _ = m.Sell(size, strategy.At(last+market.Price(s.chance.IntN(15))*100), with)
	case s.chance.IntN(3) == 0:
		_, _ = m.Buy(size, below, with, strategy.StopAt(last.Below(market.Percent)))
	default:
		_, _ = m.Buy(size, below, with)
	}
}

// requotes counts the orders that have left in the place of others, and all fills: an observer.
type requotes struct{ left, filled atomic.Int64 }

func (n *requotes) Approved(_ state.Terms, c *market.Command, figures []state.Figure) {
	for _, f := range figures {
		if f.Name == "replace" && c.Kind == market.CommandPlace {
			n.left.Add(1)
		}
	}
}

func (n *requotes) Filled(*state.Order, *market.Fill) { n.filled.Add(1) }
func (n *requotes) Closed(*state.Order)               {}

// requoters is a stage on which requoterKind trades.
func requoters(t *testing.T, seed uint64, faults ...fault.Fault) *stage {
	return playing(t, seed, requoterKind, &requotes{}, faults...)
}
