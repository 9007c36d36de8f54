package engine

import (
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
)

// core is the engine as its features see it, apart from brackets.
type core struct{ *Engine }

// Place passes an order of a feature through the gate.
func (e core) Place(c *market.Command, why port.Why, inPath bool) (market.OrderID, error) {
	return e.place(c, why, inPath)
}

// Update passes a change of an order through the gate.
func (e core) Update(c *market.Command, why port.Why, inPath bool) error {
	return e.update(c, why, inPath)
}

// Cancel asks for an order to end.
func (e core) Cancel(id market.OrderID, why port.Why, inPath bool) { e.cancel(id, why, inPath) }

// Watch notes what tactics wait for.
func (e core) Watch() { e.watchTactics() }

// Named is the strategy with a name, and its markets; id 0: there is none.
func (e core) Named(name string) (market.StrategyID, []market.ID) {
	if s := e.slotNamed(name); s != nil {
		return s.id, s.Markets
	}
	return 0, nil
}

// Markets are the markets of a strategy.
func (e core) Markets(id market.StrategyID) []market.ID { return e.slots[id-1].Markets }

// Main is the first interval of a strategy; 0: it has none.
func (e core) Main(id market.StrategyID) market.Interval {
	if intervals := e.slots[id-1].Intervals; len(intervals) > 0 {
		return intervals[0]
	}
	return 0
}

// Cold reports whether a strategy may not trade in a market yet.
func (e core) Cold(id market.StrategyID, m market.ID) bool { return e.slots[id-1].wait.Cold(m) }

// Lacks says what a market in warm-up needs.
func (e core) Lacks(id market.StrategyID, m market.ID) string {
	return e.slots[id-1].wait.Lacks(m)
}

// Name is the name of a strategy.
func (e core) Name(id market.StrategyID) string { return e.slots[id-1].Name }

// Log is the log of a strategy.
func (e core) Log(id market.StrategyID) *zerolog.Logger { return &e.slots[id-1].Log }

// Outside reports whether a market does not belong to a strategy's universe.
func (e core) Outside(id market.StrategyID, m market.ID) bool { return e.universes.Outside(id, m) }

// Refused counts and logs an ask that was refused.
func (e core) Refused(id market.StrategyID, c *market.Command, err error) {
	e.tell(&e.slots[id-1], c, err)
}

// Changed notes that the engine is to be saved.
func (e core) Changed() { e.saves.changed = true }
