package sandbox

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// record is one order of an account. While it is open its state is the venue's own
// (Exchange.orderOf); when it ends, a copy stays.
type record struct {
	id      market.OrderID
	count   uint64        // its place among the orders of the market, which orderId names
	history *orderHistory // nil: open and without a fill
	links   [chains]link
	account sim.AccountID
	market  market.ID
	shown   bool // it rested in the book at its last report
	taking  bool // it has taken; whether its rest stays in the book is not known yet
	reused  bool // a later order of the account carries its clientOrderId
}

// orderHistory is the history of an order.
type orderHistory struct {
	order   *market.Order // as it ended; nil while it is open
	fills   []fill        // oldest first, Retention.Trades of them at least
	dropped int           // fills before those
	ended   uint64        // its place among the orders that have ended
	saved   uint64        // fills that the store has
	memory  *market.Order // for order; nil: none yet
}

// closed reports whether the order has ended.
func (r *record) closed() bool { return r.history != nil && r.history.order != nil }

// fills returns the order's fills that are remembered, oldest first. The slice is the record's own.
func (r *record) fills() []fill { return r.fillsFrom(0) }

// filled counts the order's fills.
func (r *record) filled() int {
	if r.history == nil {
		return 0
	}
	return r.history.dropped + len(r.history.fills)
}

// fillsFrom returns the fills after the first mark ones, as far as they are remembered.
func (r *record) fillsFrom(mark int) []fill {
	if r.history == nil {
		return nil
	}
	return r.history.fills[max(0, mark-r.history.dropped):]
}

// link is a record's place in a chain.
type link struct{ older, newer *record }

// A record is in two chains: that of all records of its account in its market, and that of the open
// or of the closed ones.
const (
	byCreation = iota
	byState
	chains
)

// chain is a list of records in the order in which they joined it. Records leave it from anywhere
// without a search.
type chain struct {
	place          int // of the records' links
	oldest, newest *record
	length         int
}

// join adds a record as the newest.
func (c *chain) join(r *record) {
	r.links[c.place] = link{older: c.newest}
	if c.newest == nil {
		c.oldest = r
	} else {
		c.newest.links[c.place].newer = r
	}
	c.newest = r
	c.length++
}

// leave takes out a record that is in the chain.
func (c *chain) leave(r *record) {
	at := r.links[c.place]
	if at.older == nil {
		c.oldest = at.newer
	} else {
		at.older.links[c.place].newer = at.newer
	}
	if at.newer == nil {
		c.newest = at.older
	} else {
		at.newer.links[c.place].older = at.older
	}
	r.links[c.place] = link{}
	c.length--
}

// The kinds of identifiers of the venue.
const (
	nameOfFill  byte = 0
	nameOfOrder byte = 1
)

// placeNamed is countOf for an identifier as a client writes it.
func placeNamed(text string, id market.ID, kind byte) (count uint64, ok bool) {
	if len(text) != 36 { // uuid.Parse takes other forms too
		return 0, false
	}
	name, err := uuid.Parse(text)
	if err != nil {
		return 0, false
	}
	return countOf(name, id, kind)
}

// countOf returns the place that an identifier of the venue has among those of its kind in a
// market, which it counts from 1. It is false for an identifier of anything else.
func countOf(name uuid.UUID, id market.ID, kind byte) (count uint64, ok bool) {
	for _, b := range name[:6] {
		if b != 0 {
			return 0, false
		}
	}
	if market.ID(name[6])<<8|market.ID(name[7]) != id || name[8] != kind || name[9] != 0 {
		return 0, false
	}
	for _, b := range name[10:] {
		count = count<<8 | uint64(b)
	}
	return count, true
}
