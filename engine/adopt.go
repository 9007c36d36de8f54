package engine

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Adopt takes in an order to sell that left without the engine, as of the kill switch: it becomes
// an own order of its strategy that was sent and has no answer. Its Created and ClientOrderID stay
// as they are; it gets the next number. It holds what the strategy has available, for exits that
// the books still take for open may hold the rest. No command follows from it.
func (e *Engine) Adopt(at market.Time, o *market.Order) *state.Order {
	e.begin(at)
	o.ID = e.nextID()
	available, _ := e.account.Balance(o.Strategy, e.catalog.Market(o.Market).Base)
	return e.account.Send(o, max(0, min(market.Money(o.Amount), available)))
}

// Dissolve ends the brackets of orders that were cancelled without the engine: what they protected
// is not protected anew. It returns the cancels of what is left of them.
func (e *Engine) Dissolve(at market.Time, ids []market.OrderID) []market.Command {
	e.begin(at)
	for _, id := range ids {
		e.brackets.Dissolve(id)
	}
	return e.out
}

// LastOrder is the highest number of an order so far.
func (e *Engine) LastOrder() market.OrderID { return e.lastID }
