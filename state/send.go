package state

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Send records an order that is about to leave: state Sent, its funds reserved. The account keeps a
// copy.
func (a *Account) Send(o *market.Order, reserve market.Money) *Order {
	own := a.newOrder()
	own.Order, own.State, own.InFlight = *o, Sent, market.CommandPlace
	own.CancelWanted, own.Reported, own.Code = false, false, 0
	own.OnHold = reserve
	own.AmountRemaining, own.AmountQuoteRemaining = o.Amount, o.AmountQuote
	m := a.catalog.Market(o.Market)
	own.OnHoldCurrency, own.FeeCurrency = m.Quote, m.Quote
	if o.Side == market.Sell {
		own.OnHoldCurrency = m.Base
	}
	a.changed = true
	a.balanceOf(own).Held += reserve
	a.orders.Put(o.ID, own)
	a.open = append(a.open, own)
	a.count(own, 1)
	return own
}

// Drop takes back orders of a strategy that were recorded by Send but will never leave the process:
// those from id on.
func (a *Account) Drop(s market.StrategyID, id market.OrderID) {
	for i := len(a.open) - 1; i >= 0 && a.open[i].ID >= id; i-- {
		if a.open[i].Strategy == s {
			a.close(a.open[i], Rejected)
		}
	}
}

// SendUpdate records that an update is about to leave: until its answer the order holds the larger
// of both amounts.
func (a *Account) SendUpdate(o *Order, hold market.Money) {
	a.changed = true
	o.InFlight = market.CommandUpdate
	o.extra = max(0, hold-o.OnHold)
	a.reserve(o, o.OnHold+o.extra)
}

// TakeBack undoes SendUpdate for an update that will never leave the process.
func (a *Account) TakeBack(o *Order) {
	a.changed = true
	o.InFlight = 0
	a.reserve(o, o.OnHold-o.extra)
	o.extra = 0
}

// SendCancel records that a cancel is about to leave.
func (a *Account) SendCancel(o *Order) {
	a.changed = true
	o.InFlight, o.CancelWanted = market.CommandCancel, false
}

// WantCancel records that a cancel is to follow the write in flight, or, with false, that it is
// not.
func (a *Account) WantCancel(o *Order, wanted bool) {
	a.changed = true
	o.CancelWanted = wanted
}

// release frees what a fill took out of an order's hold, where no report has told the new hold yet.
func (a *Account) release(o *Order, taken market.Money) {
	if o.counted <= o.FilledAmount {
		return
	}
	a.reserve(o, o.OnHold-min(max(0, taken), o.OnHold-o.extra))
}

// reserve changes what an order holds.
func (a *Account) reserve(o *Order, hold market.Money) {
	a.balanceOf(o).Held += hold - o.OnHold
	o.OnHold = hold
}

func (a *Account) balanceOf(o *Order) *Balance { return &a.balances[o.Strategy][o.OnHoldCurrency] }

func (a *Account) count(o *Order, by int) {
	a.openBy[o.Strategy] += by
	if o.Type != market.TypeMarket {
		a.openIn[o.Market] += by
	}
}

// close ends an order locally and frees what it held.
func (a *Account) close(o *Order, state State) {
	a.changed = true
	a.reserve(o, 0)
	o.State, o.InFlight, o.extra = state, 0, 0
	a.count(o, -1)
	at := len(a.open) - 1
	for a.open[at] != o {
		at--
	}
	if at < len(a.open)-1 {
		copy(a.open[at:], a.open[at+1:])
	}
	a.open = a.open[:len(a.open)-1]
	switch {
	case o.complete():
		a.forget(o)
	case o.inferred():
		a.keepAbsent(o)
	}
}

// maxAbsent is how many orders are remembered of which a refusal was inferred. The exchange has
// had the whole window of the request, a look at the order and two at its lists to show it; what it
// shows after so many others were lost is taken for foreign.
const maxAbsent = 16

// inferred reports whether nobody but our own reckoning says that an order was refused.
func (o *Order) inferred() bool { return o.State == Rejected && o.unanswered }

// keepAbsent keeps an order that is not there, and lets the oldest of them go.
func (a *Account) keepAbsent(o *Order) {
	a.absent = append(a.absent, o)
	if len(a.absent) > maxAbsent {
		oldest := a.absent[0]
		a.absent = slices.Delete(a.absent, 0, 1)
		a.forget(oldest)
	}
}

// PresumedAbsent is the order of a client's name of which it was inferred that the exchange never took it,
// nil where there is none, or so many were lost since that it has been forgotten.
func (a *Account) PresumedAbsent(client uuid.UUID) *Order {
	for _, o := range a.absent {
		if o.ClientOrderID == client && client != uuid.Nil {
			return o
		}
	}
	return nil
}

// complete reports whether nothing more is expected of a closed order: no fill, no fee, no change
// of mind.
func (o *Order) complete() bool {
	return o.unsettled == 0 && o.counted >= o.FilledAmount && !o.inferred()
}

// reopen takes back that an order was closed.
func (a *Account) reopen(o *Order) {
	if at := slices.Index(a.absent, o); at >= 0 {
		a.absent = slices.Delete(a.absent, at, at+1)
	}
	at := len(a.open)
	for at > 0 && a.open[at-1].ID > o.ID {
		at--
	}
	a.open = slices.Insert(a.open, at, o)
	a.count(o, 1)
}

// forget forgets a closed order of which nothing more is expected.
func (a *Account) forget(o *Order) {
	a.changed = true
	a.orders.Delete(o.ID)
	a.closed = append(a.closed, o)
}

func (a *Account) recycle() {
	for _, o := range a.closed {
		a.spare = append(a.spare, o)
	}
	a.closed = a.closed[:0]
}

// newOrder returns memory for an order; all but its tally is left over from another.
func (a *Account) newOrder() *Order {
	if n := len(a.spare); n > 0 {
		o := a.spare[n-1]
		a.spare = a.spare[:n-1]
		o.tally = tally{fills: o.fills[:0]}
		return o
	}
	slab := make([]Order, 64)
	for i := 1; i < len(slab); i++ {
		a.spare = append(a.spare, &slab[i])
	}
	return &slab[0]
}
