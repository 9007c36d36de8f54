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
	l := a.seatOf(own)
	own.seat = l
	own.OnHoldCurrency, own.FeeCurrency = l.market.Quote, l.market.Quote
	if o.Side == market.Sell {
		own.OnHoldCurrency = l.market.Base
	}
	a.changed = true
	a.touch(own)
	l.held[o.Side].Held += reserve
	l.in.holds[o.Side] += reserve
	a.orders.Put(o.ID, own)
	a.addOpen(own)
	return own
}

// Drop removes a strategy's orders from id on that Send has recorded and that will never leave the
// process.
func (a *Account) Drop(s market.StrategyID, id market.OrderID) {
	for _, l := range a.openOf[s].lists {
		for l.last != nil && l.last.ID >= id {
			o := l.last
			o.reserve(0)
			a.removeOpen(o)
			o.State = Rejected
			a.close(o)
		}
	}
}

// SendUpdate records that an update is about to leave: until its answer the order holds the larger
// of both amounts.
func (a *Account) SendUpdate(o *Order, hold market.Money) {
	a.touch(o)
	o.setInFlight(market.CommandUpdate)
	o.extra = max(0, hold-o.OnHold)
	o.reserve(o.OnHold + o.extra)
}

// TakeBack undoes SendUpdate or SendCancel for a write that was refused or will never leave the
// process.
func (a *Account) TakeBack(o *Order) {
	a.touch(o)
	o.setInFlight(0)
	o.reserve(o.OnHold - o.extra)
	o.extra = 0
}

// SendCancel records that a cancel is about to leave.
func (a *Account) SendCancel(o *Order) {
	a.touch(o)
	o.setInFlight(market.CommandCancel)
	o.CancelWanted = false
}

// WantCancel records whether a cancel is to follow the write in flight.
func (a *Account) WantCancel(o *Order, wanted bool) {
	a.touch(o)
	o.CancelWanted = wanted
}

// release frees what fills have used of an order's hold, until a report brings the new hold.
func (a *Account) release(o *Order, freed market.Money) {
	if freed != 0 {
		o.reserve(o.OnHold - min(freed, o.OnHold-o.extra))
	}
}

// reserve changes what an order holds.
func (o *Order) reserve(hold market.Money) {
	more := hold - o.OnHold
	o.seat.held[o.Side].Held += more
	o.seat.in.holds[o.Side] += more
	o.OnHold = hold
}

func (a *Account) seatOf(o *Order) *seat { return &a.seats[o.Strategy][o.Market] }

func (a *Account) balanceOf(o *Order) *Balance { return a.seatOf(o).held[o.Side] }

// close ends an order that is not among the open ones any more, and holds nothing.
func (a *Account) close(o *Order) {
	o.InFlight, o.extra = 0, 0
	switch {
	case o.complete():
		a.forget(o)
	case o.inferred():
		a.keepAbsent(o)
	}
}

// maxAbsent is how many orders with an inferred refusal are remembered. The exchange has had the
// request's whole window, a query of the order and two of its lists to show each; an order that it
// shows after so many others counts as foreign.
const maxAbsent = 16

// inferred reports whether an order's refusal is only inferred.
func (o *Order) inferred() bool { return o.State == Rejected && o.unanswered }

// keepAbsent remembers an absent order, and forgets the oldest.
func (a *Account) keepAbsent(o *Order) {
	a.absent = append(a.absent, o)
	if len(a.absent) > maxAbsent {
		oldest := a.absent[0]
		a.absent = slices.Delete(a.absent, 0, 1)
		a.forget(oldest)
	}
}

// PresumedAbsent is the order with a client order id whose absence was inferred; nil: none, or
// forgotten.
func (a *Account) PresumedAbsent(client uuid.UUID) *Order {
	for _, o := range a.absent {
		if o.ClientOrderID == client && client != uuid.Nil {
			return o
		}
	}
	return nil
}

// complete reports whether a closed order expects nothing more: no fill, no fee, no correction.
func (o *Order) complete() bool {
	return o.unsettled == 0 && o.counted >= o.FilledAmount && !o.inferred()
}

// reopen undoes the closing of an order.
func (a *Account) reopen(o *Order) {
	if at := slices.Index(a.absent, o); at >= 0 {
		a.absent = slices.Delete(a.absent, at, at+1)
	}
	a.addOpen(o)
}

// forget removes a closed order that expects nothing more.
func (a *Account) forget(o *Order) {
	a.changed = true
	a.touch(o)
	a.orders.Delete(o.ID)
	a.closed = append(a.closed, o)
}

func (a *Account) recycle() {
	for _, o := range a.closed {
		a.spare = append(a.spare, o)
	}
	a.closed = a.closed[:0]
}

// Trim gives up the memory that is kept for later orders, before a copy is made of the account.
func (a *Account) Trim() { a.spare = nil }

// newOrder returns memory for an order; all but its tally is left over from another.
func (a *Account) newOrder() *Order {
	if len(a.spare) == 0 {
		a.moreOrders()
	}
	last := len(a.spare) - 1
	o := a.spare[last]
	a.spare = a.spare[:last]
	o.tally = tally{fills: o.fills[:0]}
	return o
}

// moreOrders makes memory for orders. Like other functions of what is rare, it is not inlined: the
// code that each order runs stays small, and more of it in the processor's cache.
//
//go:noinline
func (a *Account) moreOrders() {
	slab := make([]Order, min(64, 8+2*cap(a.spare)))
	for i := range slab {
		a.spare = append(a.spare, &slab[len(slab)-1-i])
	}
}
