package strategytest

import (
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
// markets or about all; below draws numbers.
func RandomSignal(below func(n int) int, markets int) market.Signal {
	s := market.Signal{Source: "model", Market: market.ID(below(markets + 1))}
	switch below(4) {
	case 0:
		s.Stance = market.Stance(1 + below(int(market.StanceFlat)))
	case 1:
		s.Target, s.HasTarget = float64(below(5))/10, true
	default:
		s.Action = market.Action(1 + below(int(market.ActExit)))
	}
	return s
}
