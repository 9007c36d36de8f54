package gap

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange/footprint"
	"github.com/tidemark-trading/tidemark/market"
)

// others are the markets of the stretch without the bot: without its resting orders, its trades as
// taker, and what it took. The venue's orders of a run meet them.
func (v *survey) others() *footprint.Markets {
	m, seen := footprint.New(v.first.made.Catalog), map[uuid.UUID]bool{}
	for _, l := range slices.Concat(v.inherited, v.order) {
		for i := range l.told {
			t := &l.told[i]
			if r := t.event.Report; r != nil && r.Exec != market.ExecRejected && r.Exec != market.ExecUnknown {
				m.Rest(l.rest(r, t.at))
			}
			for k := range t.event.Fills {
				if f := &t.event.Fills[k]; !seen[f.ID] { // it comes again when its fee is settled
					seen[f.ID] = true
					m.Fill(f)
				}
			}
		}
	}
	return m
}

// rest is the amount of an order that rests in the book after a report.
func (l *life) rest(r *market.Report, heard market.Time) footprint.Rest {
	rest := footprint.Rest{At: r.Updated, Order: l.order.ID, Market: l.order.Market, Side: l.order.Side, Price: r.Price}
	if rest.At == 0 {
		rest.At = heard
	}
	if !r.Status.Terminal() && r.Status != market.StatusAwaitingTrigger {
		rest.Amount = r.AmountRemaining
	}
	return rest
}
