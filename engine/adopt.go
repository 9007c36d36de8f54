package engine

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Adopt takes in a sell order that was sent without the engine, such as the kill switch's: it
// becomes its strategy's own order, sent and not yet answered. Created and ClientOrderID stay; the
// order gets the next number. It holds at most what the strategy has available, because exits that
// the account still counts as open may hold the rest. No command follows.
func (e *Engine) Adopt(at market.Time, o *market.Order) *state.Order {
	e.begin(at)
	o.ID = e.nextID()
	available, _ := e.account.Balance(o.Strategy, e.catalog.Market(o.Market).Base)
	return e.account.Send(o, max(0, min(market.Money(o.Amount), available)))
}

// Dissolve ends the tactics of orders that were cancelled without the engine, so that nothing is
// bought in their place, and withdraws the brackets of exits among them, as CancelAll does. It
// returns the cancels of the other orders of these. What a cancelled entry has bought keeps its
// exit.
func (e *Engine) Dissolve(at market.Time, ids []market.OrderID) []market.Command {
	e.begin(at)
	for _, id := range ids {
		e.cancelTactic(id)
		e.brackets.Withdraw(id)
	}
	e.notifySent()
	return e.out
}

// LastOrder is the highest order number so far.
func (e *Engine) LastOrder() market.OrderID { return e.lastID }
