package engine

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Adopt takes in an order that was sent without the engine, such as a sale of the kill switch: it
// becomes its strategy's own order, sent and not yet answered. Created and ClientOrderID stay; the
// order gets the next number. It holds at most what the strategy has available, because exits that
// the account still counts as open may hold the rest. A resting sale becomes the exit of a bracket
// that lacks one; a resting stop over a position without a bracket gets a bracket of its own. While
// a sale at market is under way, brackets place no exit over its base. No command follows.
func (e acts) Adopt(at market.Time, o *market.Order) *state.Order {
	e.begin(at)
	o.ID = e.nextID()
	m, wanted := e.catalog.Market(o.Market), market.Money(o.Amount)
	if o.Side == market.Buy {
		wanted = o.OnHold
	}
	available, _ := e.account.Balance(o.Strategy, exchange.HoldAsset(m, o.Side))
	own := e.account.Send(o, max(0, min(wanted, available)))
	e.brackets.Outside(own)
	if own.Side == market.Sell && own.Type != market.TypeMarket && !e.brackets.Take(own) &&
		own.Type == market.TypeStopLoss {
		held := e.account.Position(o.Strategy, o.Market).Amount
		if held-e.brackets.Covered(o.Strategy, o.Market) >= own.Amount {
			e.brackets.Enclose(e.nextID(), own)
		}
	}
	return own
}

// Withhold halts a strategy as HaltOne does, and lets the brackets that lack their exit place none
// before Resume: an order that the books do not know may be that exit.
func (e acts) Withhold(at market.Time, id market.StrategyID, reason string) []market.Command {
	e.begin(at)
	e.haltAlso(&e.slots[id-1], reason)
	e.brackets.Withhold(id, reason)
	e.notifySent()
	return e.out
}

// Dissolve ends the tactics of orders that were cancelled without the engine, so that nothing is
// bought in their place, and withdraws the brackets of exits among them, as CancelAll does. It
// returns the cancels of the other orders of these. What a cancelled entry has bought keeps its
// exit.
func (e acts) Dissolve(at market.Time, ids []market.OrderID) []market.Command {
	e.begin(at)
	for _, id := range ids {
		e.tactics.Cancelled(id, nil)
		e.brackets.Withdraw(id)
	}
	e.notifySent()
	return e.out
}

// LastOrder is the highest order number so far.
func (e *Engine) LastOrder() market.OrderID { return e.lastID }
