package state

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Known returns an own order of which something is still expected: an answer, a fill, a fee; open or not. Otherwise nil.
func (a *Account) Known(id market.OrderID) *Order { return a.orders.Get(id) }

// Expects reports whether anything more is to come of an own order.
func (a *Account) Expects(id market.OrderID) bool { return a.orders.Get(id) != nil }

// Pending appends the own orders that the exchange has to be asked about, by id: those that are open, and those that are done and lack a
// fill or a fee.
func (a *Account) Pending(dst []*Order) []*Order {
	first := len(dst)
	for _, o := range a.orders.All {
		if o.State != Rejected { // of a refusal that was inferred nothing is expected, only possible
			dst = append(dst, o)
		}
	}
	slices.SortFunc(dst[first:], func(a, b *Order) int { return cmp.Compare(a.ID, b.ID) })
	return dst
}

// Ended returns an own order that the last Apply closed and of which nothing more is expected, otherwise nil. It is valid until the next Apply.
func (a *Account) Ended(id market.OrderID) *Order {
	for _, o := range a.closed {
		if o.ID == id {
			return o
		}
	}
	return nil
}
