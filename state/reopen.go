package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// EndedOrder is an own order from outside the account, with all its booked fills, for Reopen where
// the account has forgotten the order. It holds nothing.
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

// CanReopen says why an ended own order cannot be open again with a hold: its strategy is no longer
// there, or its allocation lacks the money.
func (a *Account) CanReopen(o *Order, hold market.Money) error {
	if o.Strategy == 0 {
		return fmt.Errorf("order %d is of a strategy that this bot does not have", o.ID)
	}
	if available := a.balanceOf(o).Available(); hold < 0 || hold > available {
		return fmt.Errorf("order %d would hold %d, and %d is available", o.ID, hold, available)
	}
	return nil
}

// Reopen opens an ended own order again, because the exchange shows it open. Its state is Unknown
// and it holds nothing until the report that follows. The account keeps o where it had forgotten
// the order.
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
	a.touch(o)
	o.State, o.Reported, o.InFlight, o.CancelWanted = Unknown, false, 0, false
	a.reopen(o)
}
