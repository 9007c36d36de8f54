package engine

import (
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
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

// Trades reports whether a strategy trades a market.
func (e *Engine) Trades(id market.StrategyID, m market.ID) bool {
	return slices.Contains(e.slots[id-1].Markets, m)
}

// Markets are the markets of a strategy.
func (e core) Markets(id market.StrategyID) []market.ID { return e.slots[id-1].Markets }

// Given are the markets whose candles a strategy receives: its own, then those that it only reads.
func (e core) Given(id market.StrategyID) []market.ID { return e.slots[id-1].given }

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
	e.refusals.Tell(id, c, err)
}

// Changed notes that the engine is to be saved.
func (e core) Changed() { e.saves.changed = true }

// Costs are the gate's assumptions about the costs of orders in a market.
func (e core) Costs(m market.ID) strategy.Costs { return asks{e.Engine}.Costs(m) }

// RefusedPlan logs why the buys of a portfolio are not sent.
func (e core) RefusedPlan(id market.StrategyID, err error) { e.refusals.TellPlan(id, err) }

// Free is the part of a strategy's position in a market that no open sell holds.
func (e core) Free(id market.StrategyID, m market.ID) market.Qty {
	_, free := (exits{e.Engine}).Position(id, m)
	return free
}

// ClosePart sells base that exits of brackets hold, or tells the strategy why not.
func (e core) ClosePart(id market.StrategyID, m market.ID, amount market.Qty, tag string) {
	c := e.sale(id, m, amount, tag)
	e.refusals.Keep(c)
	err := e.gate.CheckClose(e.account, c, false)
	if err != nil {
		e.refusals.Report(c, err)
	} else {
		e.replaces.DropIn(id, m, false, closeLeaves)
		call, _ := e.calls.Now()
		err = e.brackets.Close(&bracket.Leave{Strategy: id, Market: m, Amount: c.Order.Amount, Tag: tag, Last: e.lastID,
			AtClose: call.Kind == CallCandle || call.Kind == CallCandles})
	}
	if err != nil {
		e.refusals.Tell(id, c, err)
	}
}

// NextID is a new order number.
func (e core) NextID() market.OrderID { return e.nextID() }

// Newest is the newest order number.
func (e core) Newest() market.OrderID { return e.lastID }

// OwnsTactic reports whether an order is one of a tactic of a strategy.
func (e core) OwnsTactic(id market.StrategyID, order market.OrderID) bool {
	return e.tactics.Owns(id, order)
}

// Send sends an order that waited. Live, it is no exit, and has no right of way.
func (e core) Send(asked, c *market.Command, approved risk.Approved, why port.Why) {
	e.refusals.Keep(asked)
	e.sendPlace(c, approved, why, e.run == uuid.Nil)
}

// NotSent tells the observer and the log that an order which waited was refused.
func (e core) NotSent(asked, rounded *market.Command, err error) {
	e.refusals.Keep(asked)
	e.refusals.Report(rounded, err)
	e.refusals.Tell(rounded.Order.Strategy, rounded, err)
}

// Dropped tells a strategy of an order that never left.
func (e core) Dropped(o market.Order, r market.Report) {
	if s := &e.slots[o.Strategy-1]; s.onOrder != nil {
		e.sent = append(e.sent, sentOrder{slot: s, id: o.ID, dropped: &droppedOrder{o, r}})
	}
}

// Ring calls OnTimer of a strategy, if it has one.
func (e core) Ring(id market.StrategyID, name int64) {
	if s := &e.slots[id-1]; s.onTimer != nil {
		e.args.timer = name
		e.guard(s, CallTimer)
	}
}

// Overran halts a strategy whose timers set one another for now without end.
func (e core) Overran(id market.StrategyID, rounds int) {
	e.halt(&e.slots[id-1], fmt.Sprintf("%d timers in a row, each set for now by the one before", rounds))
}

// Hides reports whether a candle lies before the history of a strategy.
func (e core) Hides(id market.StrategyID, c *market.Candle) bool { return e.slots[id-1].past.Hides(c) }

// Past reports whether a restart shows candles again; they are useless to a strategy without a
// warm-up.
func (e core) Past(id market.StrategyID) (replaying, useless bool) {
	return e.replaying, !e.slots[id-1].wait.Warms()
}

// CallCandles calls OnCandles of a strategy.
func (e core) CallCandles(id market.StrategyID, g strategy.Group) {
	e.args.group = g
	e.guard(&e.slots[id-1], CallCandles)
}

// CallSignal calls OnSignal of a strategy, if it has one. It reports whether the strategy has been
// started and is not halted.
func (e core) CallSignal(id market.StrategyID, heard *market.Signal) bool {
	s := &e.slots[id-1]
	awake := !s.halted && !s.past.Starting()
	if awake && s.onSignal != nil {
		s.wait.Release(e.now)
		e.args.signal = heard
		e.guard(s, CallSignal)
	}
	return awake
}

// CallStart calls OnStart of a strategy.
func (e core) CallStart(id market.StrategyID) { e.guard(&e.slots[id-1], CallStart) }
