package engine

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Replace places an order over the funds of another, which it cancels: see strategy.Replacing.
func (e *Engine) Replace(id market.StrategyID, old market.OrderID, c *market.Command,
	f *strategy.Follow) (market.OrderID, error) {
	c.At, c.Order.Strategy = e.now, id
	if e.replaying || e.stopped {
		return 0, e.refuse(c)
	}
	if e.universes.Bars(id, c) {
		return 0, e.refuseOutside(c)
	}
	if f != nil && f.Parts != nil {
		if err := e.checkEntryParts(c, f.Parts); err != nil {
			e.tell(&e.slots[id-1], c, err)
			return 0, err
		}
	}
	e.asked = *c
	order, err := e.replaces.Begin(old, c, f)
	if err != nil {
		e.reportRefusal(c, err)
		e.tell(&e.slots[id-1], c, err)
	}
	return order, err
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
	e.asked = *asked
	e.sendPlace(c, approved, why, e.run == uuid.Nil)
}

// NotSent tells the observer and the log that an order which waited was refused.
func (e core) NotSent(asked, rounded *market.Command, err error) {
	e.asked = *asked
	e.reportRefusal(rounded, err)
	e.tell(&e.slots[rounded.Order.Strategy-1], rounded, err)
}

// Dropped tells a strategy of an order that never left.
func (e core) Dropped(o market.Order, r market.Report) {
	if s := &e.slots[o.Strategy-1]; s.onOrder != nil {
		e.sent = append(e.sent, sentOrder{slot: s, id: o.ID, dropped: &droppedOrder{o, r}})
	}
}

// droppedOrder is an order that never left, and what its strategy hears of it.
type droppedOrder struct {
	order  market.Order
	report market.Report
}
