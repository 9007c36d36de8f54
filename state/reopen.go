package state

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// EndedOrder is an own order from outside the account, with all its booked fills, for Reopen where
// the account has forgotten the order. It holds nothing. What the account has forgotten has ended,
// whatever state was kept of it.
func EndedOrder(kept Order, fills []market.Fill) *Order {
	o := &Order{Order: kept.Order, State: kept.State, Reported: kept.Reported, Code: kept.Code}
	if !o.State.Terminal() {
		o.State = Canceled
	}
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
		o.seat = a.seatOf(o)
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

// SaveOrder is the form in which Save writes an own order, for ReopenSaved.
func (a *Account) SaveOrder(o *Order, strategies []string) ([]byte, error) {
	s := savedOrder(o, a.catalog.Market(o.Market).Name, strategies[o.Strategy-1])
	return market.AppendSaved(nil, savedVersion, &s)
}

// ReopenSaved is Reopen of an order in the form of SaveOrder. strategies are the names by
// StrategyID − 1. It returns the account's order.
func (a *Account) ReopenSaved(text []byte, strategies []string) (*Order, error) {
	var s SavedOrder
	if err := market.ParseSaved(text, savedVersion, &s); err != nil {
		return nil, fmt.Errorf("reopen an order: %w", err)
	}
	m, by := a.catalog.MarketNamed(s.Market), slices.Index(strategies, s.Strategy)
	if m == nil || by < 0 {
		return nil, fmt.Errorf("reopen order %d of strategy %q in %s: one of them is gone", s.ID, s.Strategy, s.Market)
	}
	o := &Order{Order: s.order(m, market.StrategyID(by+1))}
	if err := o.restoreLocal(&s); err != nil {
		return nil, fmt.Errorf("reopen order %d: %w", s.ID, err)
	}
	a.Reopen(o)
	return a.orders.Get(o.ID), nil
}
