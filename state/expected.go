package state

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Known returns an own order that still expects an answer, a fill or a fee, open or not; otherwise
// nil.
func (a *Account) Known(id market.OrderID) *Order { return a.orders.Get(id) }

// Expects reports whether an own order still expects an answer, a fill or a fee.
func (a *Account) Expects(id market.OrderID) bool { return a.orders.Get(id) != nil }

// Pending appends, by id, the own orders that the bot must query at the exchange: open orders, and
// ended orders without all their fills and fees.
func (a *Account) Pending(dst []*Order) []*Order {
	first := len(dst)
	for _, o := range a.orders.All {
		if o.State != Rejected { // an inferred refusal expects nothing
			dst = append(dst, o)
		}
	}
	slices.SortFunc(dst[first:], func(a, b *Order) int { return cmp.Compare(a.ID, b.ID) })
	return dst
}

// CountPending is the number of orders that Pending appends.
func (a *Account) CountPending() (count int) {
	for _, o := range a.orders.All {
		if o.State != Rejected {
			count++
		}
	}
	return count
}

// Shows reports whether a report and its fills bring nothing new about an order.
func (o *Order) Shows(r *market.Report, fills []market.Fill) bool {
	if !o.Reported || o.InFlight != 0 || o.CancelWanted {
		return false
	}
	known := market.ReportOf(&o.Order, r.Exec)
	known.OnHold -= o.extra
	if o.State.Terminal() {
		known.OnHold = r.OnHold // an ended order holds nothing here
	}
	if r.RestatementReason == 0 {
		known.RestatementReason = 0 // a known reason stays
	}
	if known != *r {
		return false
	}
	for i := range fills {
		if mark := o.markOf(&fills[i]); mark == nil || fills[i].Settled && !mark.settled {
			return false
		}
	}
	return true
}

// Unsettled reports whether an own order waits for a fee in an asset: the exchange may have taken
// it already.
func (a *Account) Unsettled(asset market.AssetID) bool {
	for _, o := range a.orders.All {
		if o.unsettled > 0 && o.FeeCurrency == asset {
			return true
		}
	}
	return false
}

// UnsettledBy is the number of a strategy's orders that wait for a fee. Cost and realised profit
// lack it until then.
func (a *Account) UnsettledBy(s market.StrategyID) (count int) {
	for _, o := range a.orders.All {
		if o.unsettled > 0 && o.Strategy == s {
			count++
		}
	}
	return count
}

// MissesFills reports whether an order of a strategy in a market has filled more than the account
// knows fills of.
func (a *Account) MissesFills(s market.StrategyID, m market.ID) bool {
	for _, o := range a.orders.All {
		if o.Strategy == s && o.Market == m && o.BookedAmount() < o.FilledAmount {
			return true
		}
	}
	return false
}

// BookedAmount is the base of the booked fills: those that the account has counted. While fills are
// missing it is less than FilledAmount, which is the exchange's figure.
func (o *Order) BookedAmount() market.Qty { return o.counted }

// Over reports whether an order has ended and all of its fills are booked. For nil, no order,
// it is true.
func (o *Order) Over() bool {
	return o == nil || o.State.Terminal() && o.BookedAmount() >= o.FilledAmount
}

// Knows reports whether a fill of an order has been counted.
func (o *Order) Knows(f *market.Fill) bool { return o.markOf(f) != nil }

// Fresh moves fills that an order has not counted, or whose fee it does not know, to the front and
// returns them.
func (o *Order) Fresh(fills []market.Fill) []market.Fill {
	fresh := 0
	for i := range fills {
		if mark := o.markOf(&fills[i]); mark == nil || fills[i].Settled && !mark.settled {
			fills[fresh], fills[i] = fills[i], fills[fresh]
			fresh++
		}
	}
	return fills[:fresh]
}

// Ended returns an own order that the last Apply closed for good, otherwise nil. It is valid until
// the next Apply.
func (a *Account) Ended(id market.OrderID) *Order {
	for _, o := range a.closed {
		if o.ID == id {
			return o
		}
	}
	return nil
}
