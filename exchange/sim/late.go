package sim

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// SubmitLate carries out a command as Submit does, but an order that would now trade or rest in
// the book stands aside, open and invisible, until Release. It can be cancelled meanwhile; an
// update brings it to the book.
func (v *Venue) SubmitLate(id AccountID, at market.Time, c *market.Command) (refused *exchange.Error, err error) {
	v.late = true
	defer func() { v.late = false }()
	return v.Submit(id, at, c)
}

// standAside keeps an order from the book.
func (v *matching) standAside(b *book, o *order, exec market.ExecutionType) {
	o.aside, o.Visible = true, false
	o.exec = 0
	if o.Status = market.StatusNew; o.FilledAmount > 0 {
		o.Status = market.StatusPartiallyFilled
	}
	if exec != 0 {
		v.emit(b, o, exec, 0)
	}
}

// Release brings an order that stands aside to the book, as the youngest there. In a market that is
// not trading an order that cannot rest expires. Release reports whether the order stood aside, and
// the first arithmetic error.
func (v *Venue) Release(id market.OrderID, at market.Time) (stood bool, err error) {
	v.orders.recycle()
	o := v.orders.Get(id)
	if o == nil || !o.aside {
		return false, v.err
	}
	b := &v.books[o.Market]
	b.time = max(b.time, at)
	v.sequence++
	o.aside, o.Visible = false, true
	o.sequence, o.level = v.sequence, b.last
	if b.market.Status == market.Trading {
		b.enqueue(o)
		v.match(b)
	} else {
		v.settleRest(b, o)
	}
	return true, v.err
}
