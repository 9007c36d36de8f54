package state

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// claim is money that waits for an order which is not sent yet, beyond what the open orders hold.
type claim struct {
	order    market.OrderID
	strategy market.StrategyID
	asset    market.AssetID
	market   market.ID
	side     market.Side
	money    market.Money
	slot     bool // the order counts among the open orders of its strategy: SlotsBy
}

// Claim sets the money, of OnHoldCurrency, that waits for an order, in place of an earlier claim of
// the order. Nothing else can spend it until Unclaim. Claims are not saved.
func (a *Account) Claim(o *market.Order, money market.Money, slot bool) {
	a.Unclaim(o.ID)
	a.claims = append(a.claims, claim{order: o.ID, strategy: o.Strategy, asset: o.OnHoldCurrency, market: o.Market,
		side: o.Side, money: money, slot: slot})
	a.balances[o.Strategy][o.OnHoldCurrency].Held += money
	a.openIn[o.Market].holds[o.Side] += money
	if slot {
		a.openOf[o.Strategy].claimed++
	}
}

// Unclaim frees the money that waits for an order, if there is any.
func (a *Account) Unclaim(order market.OrderID) {
	at := slices.IndexFunc(a.claims, func(c claim) bool { return c.order == order })
	if at < 0 {
		return
	}
	c := a.claims[at]
	a.claims = slices.Delete(a.claims, at, at+1)
	a.balances[c.strategy][c.asset].Held -= c.money
	a.openIn[c.market].holds[c.side] -= c.money
	if c.slot {
		a.openOf[c.strategy].claimed--
	}
}

// SlotsBy is the number of a strategy's open orders, with those that Claim counts among them.
func (a *Account) SlotsBy(s market.StrategyID) int { return a.openOf[s].count + a.openOf[s].claimed }

// Without calls f while an open order counts as ended: it holds nothing, and is not among the open
// ones.
func (a *Account) Without(o *Order, f func()) {
	hold := o.OnHold
	o.reserve(0)
	a.removeOpen(o)
	f()
	a.addOpen(o)
	o.reserve(hold)
}
