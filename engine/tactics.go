package engine

import (
	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Work begins a tactic. Its first order leaves at once; where the gate refuses that, or the whole,
// nothing begins.
func (e *Engine) Work(id market.StrategyID, c *market.Command, way *strategy.Tactic,
	f *strategy.Follow) (market.OrderID, error) {
	c.At, c.Order.Strategy = e.now, id
	if e.replaying || e.stopped {
		return 0, e.refuse(c)
	}
	if e.universes.Bars(id, c) {
		return 0, e.refuseOutside(c)
	}
	err := e.checkTactic(c, way, f)
	if err == nil {
		var order market.OrderID
		if order, err = e.tactics.Begin(c, way, f); err == nil {
			return order, nil
		}
	}
	e.tell(&e.slots[id-1], c, err)
	return 0, err
}

// checkTactic passes a whole tactic through the gate.
func (e *Engine) checkTactic(c *market.Command, way *strategy.Tactic, f *strategy.Follow) error {
	if f != nil && f.Parts != nil {
		if err := e.checkEntryParts(c, f.Parts); err != nil {
			return err
		}
	}
	e.asked = *c
	err := e.gate.CheckTactic(e.account, c, way.PerMinute())
	if err != nil {
		e.reportRefusal(c, err)
	}
	return err
}

// Working reports whether a tactic of a strategy is under way in a market, 0 for all markets.
func (e *Engine) Working(id market.StrategyID, m market.ID) bool { return e.tactics.Working(id, m) }

// EndTactics ends the tactics of a strategy in a market, 0 for all markets.
func (e *Engine) EndTactics(id market.StrategyID, m market.ID) {
	if !e.replaying {
		e.tactics.End(id, m)
	}
}

// watchTactics notes what tactics wait for in the path of a backtest's candles.
func (e *Engine) watchTactics() {
	timer := market.Time(0)
	if at, waits := e.NextTimer(); waits {
		timer = max(1, at)
	}
	e.tactics.Watch(e.brackets.Watches(), timer)
}

// Buyers are the orders under way that a tactic has sent after the entry of a bracket.
func (e exits) Buyers(entry market.OrderID) []market.OrderID { return e.tactics.Buyers(entry) }

// following is what the exits of an entry at the gate follow.
type following strategy.Follow

// Figures explain such an entry.
func (f *following) Figures(_ *market.Command, m *market.Market) []state.Figure {
	return []state.Figure{port.Follows((*strategy.Follow)(f), m)}
}
