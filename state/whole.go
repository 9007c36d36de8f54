package state

import "github.com/tidemark-trading/tidemark/market"

// endsWhole reports whether an event is all that is ever told of an order: one settled fill has
// filled it whole, and neither a report nor a fill came before. So it is with most orders at
// market.
func (a *Account) endsWhole(o *Order, ev *market.Event) bool {
	r := ev.Report
	return r.Status == market.StatusFilled && r.Exec == market.ExecTrade && o.State == Sent && len(ev.Fills) == 1 &&
		ev.Fills[0].Settled && ev.Fills[0].Amount >= r.FilledAmount && len(o.fills) == 0 &&
		a.window == 0 && a.histories == nil
}

// applyWhole is applyAny for such an event: the order ends and is forgotten without the steps of an
// order that goes on.
func (a *Account) applyWhole(o *Order, ev *market.Event) (Applied, error) {
	f, r := &ev.Fills[0], ev.Report
	if _, err := a.book(o, f); err != nil {
		return Applied{}, fillError(o, f, err)
	}
	o.counted += f.Amount
	a.removeOpen(o)
	o.reserve(0)
	reason, triggered := o.RestatementReason, o.Triggered
	o.OrderState = r.OrderState
	if o.RestatementReason == 0 {
		o.RestatementReason = reason
	}
	if o.Created == 0 {
		o.Created = r.Updated
	}
	o.Triggered, o.OnHold = o.Triggered || triggered, 0
	o.State, o.InFlight, o.Code, o.Reported, o.ExchangeID = Filled, 0, r.Code, true, r.ExchangeID
	a.forget(o)
	return Applied{Order: o, Fresh: 1, Ended: true}, nil
}
