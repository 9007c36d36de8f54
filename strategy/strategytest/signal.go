package strategytest

import (
	"math/rand/v2"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Signal lets the strategy hear a signal, known now.
func (b *Bench) Signal(s strategy.SignalHandler, d *strategy.Desk, heard market.Signal) {
	heard.Known = b.At
	b.heard = append(b.heard, heard)
	s.OnSignal(d, heard)
}

// RandomSignal is an action, a position or a target of the source "model", about one of so many
// markets or about all.
func RandomSignal(r *rand.Rand, markets int) market.Signal {
	s := market.Signal{Source: "model", Market: market.ID(r.IntN(markets + 1))}
	switch r.IntN(4) {
	case 0:
		s.Stance = market.Stance(1 + r.IntN(int(market.StanceFlat)))
	case 1:
		s.Target, s.HasTarget = float64(r.IntN(5))/10, true
	default:
		s.Action = market.Action(1 + r.IntN(int(market.ActExit)))
	}
	return s
}
