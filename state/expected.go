package state

import "github.com/tidemark-trading/tidemark/market"

// Known returns an own order of which something is still expected: an answer, a fill, a fee; open or not. Otherwise nil.
func (a *Account) Known(id market.OrderID) *Order { return a.orders.Get(id) }

// Expects reports whether anything more is to come of an own order.
func (a *Account) Expects(id market.OrderID) bool { return a.orders.Get(id) != nil }

// Pending appends the own orders of which something is still expected and that are open, by id.
func (a *Account) Pending(dst []*Order) []*Order { return append(dst, a.open...) }

// Ended returns an own order that the last Apply closed and of which nothing more is expected, otherwise nil. It is valid until the next Apply.
func (a *Account) Ended(id market.OrderID) *Order {
	for _, o := range a.closed {
		if o.ID == id {
			return o
		}
	}
	return nil
}
