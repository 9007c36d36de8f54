package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// EndedOrder is an own order as it was kept outside of the account, with all fills that were ever
// booked: what Reopen takes where the account has forgotten the order. It holds nothing.
func EndedOrder(kept Order, fills []market.Fill) *Order {
	o := &Order{Order: kept.Order, State: kept.State, Reported: kept.Reported, Code: kept.Code}
	o.OnHold = 0
	o.unanswered = o.State == Rejected
	for i := range fills {
		o.fills = append(o.fills, fillMark{id: fills[i].ID, settled: fills[i].Settled})
		o.counted += fills[i].Amount
		if !fills[i].Settled {
			o.unsettled++
		}
	}
	return o
}

// CanReopen says why an own order that has ended cannot be open again and hold so much: its
// strategy is no more, or its purse does not have it.
func (a *Account) CanReopen(o *Order, hold market.Money) error {
	if o.Strategy == 0 {
		return fmt.Errorf("order %d is of a strategy that this bot does not have", o.ID)
	}
	if available := a.balanceOf(o).Available(); hold < 0 || hold > available {
		return fmt.Errorf("order %d would hold %d, and %d is available", o.ID, hold, available)
	}
	return nil
}

// Reopen takes an own order that has ended, by the books, back among the open ones: the exchange
// shows that it has not. It is of state Unknown and holds nothing until the report that follows.
// The account keeps o where it had forgotten the order.
func (a *Account) Reopen(o *Order) {
	if known := a.orders.Get(o.ID); known != nil {
		o = known
	} else {
		a.orders.Put(o.ID, o)
	}
	if !o.State.Terminal() {
		return
	}
	a.changed = true
	a.reopen(o)
	o.State, o.Reported, o.InFlight, o.CancelWanted = Unknown, false, 0, false
}
