package sandbox

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// fill is a fill of an order with the moment from which it counts as settled (specification 2.2).
// Its money moved when it happened; only its fee appears later.
type fill struct {
	market.Fill `json:"Fill"`
	Due         market.Time
}

// settles returns when the fee of a fill appears: Rules.SettleAfter after it, or more by a
// fault. It is asked once, when the fill happens.
func (ex *Exchange) settles(f *market.Fill) market.Time {
	return f.Time.Add(ex.config.Rules.SettleAfter + ex.settleLater)
}

// at returns the fill as an answer at now shows it.
func (f *fill) at(now market.Time) market.Fill {
	told := f.Fill
	told.Settled = f.Due <= now
	return told
}

// copyOrder sets view to the order of a record as an answer at now shows it: feePaid has only fees
// that are settled, and an order is visible while it rests in the book.
func (ex *Exchange) copyOrder(view *market.Order, r *record, now market.Time) {
	*view = *ex.orderOf(r)
	view.Visible = rests(view)
	for _, f := range r.fills() {
		if f.Due > now {
			view.FeePaid, _ = view.FeePaid.Sub(f.Fee) // no overflow: the fee is a part of the sum
		}
	}
}

// describe fills view and viewed with an order and its fills as an answer at now shows them.
func (ex *Exchange) describe(r *record, now market.Time, fills []fill) {
	ex.copyOrder(&ex.view, r, now)
	ex.viewed = ex.viewed[:0]
	for i := range fills {
		ex.viewed = append(ex.viewed, fills[i].at(now))
	}
}

// appendOrder appends the record of an order to the answer, with the given fills of it.
func (ex *Exchange) appendOrder(c *api.Call, r *record, fills []fill) {
	ex.describe(r, c.Now, fills)
	c.Out = exchange.AppendOrder(c.Out, ex.catalog, &ex.view, ex.viewed)
}

// appendListed appends the record of an order to a list of them.
func (ex *Exchange) appendListed(c *api.Call, r *record, fills []fill) {
	if c.Out[len(c.Out)-1] != '[' {
		c.Out = append(c.Out, ',')
	}
	ex.describe(r, c.Now, fills)
	c.Out = exchange.AppendListed(c.Out, ex.catalog, &ex.view, ex.viewed, !r.reused)
}
