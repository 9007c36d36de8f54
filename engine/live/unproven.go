package live

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// fillsAfterEnd reports whether the answer to a write of an order that the account has forgotten
// tells of a fill that is not booked. Nothing of it is booked: the order is queried, and reopened.
func (l *Loop) fillsAfterEnd(r *reply) (any bool) {
	if r.err != nil || r.record == nil {
		return false
	}
	o := &r.record.Order
	for i := range r.record.Fills {
		t := exchange.Trade{Fill: r.record.Fills[i], ExchangeID: o.ExchangeID, ClientOrderID: o.ClientOrderID}
		if l.auditor.owners.of[fillName{o.Market, t.ID}] == 0 && l.filledAfterEnd(&t, false) {
			any = true
		}
	}
	return any
}

// withoutProof leaves of the answer to a write, which came over a socket, what is booked at once:
// the exchange has the order, with these terms. Fills and an end are asked for over REST, as those
// of an event are; until then the order counts against every limit, and holds what it did.
func (l *Loop) withoutProof(q *query, own *state.Order, r *reply) {
	got := &r.record.Order
	r.record.Fills = nil
	if !got.Done() && got.FilledAmount <= own.FilledAmount {
		return
	}
	q.doubt(&doubt{told: l.now, updated: got.Updated, filled: got.FilledAmount, ended: got.Done(), order: true}, l.now)
	if got.Status = own.Status; !own.Reported {
		got.Status, got.Triggered = market.StatusNew, false
		if own.Type.HasTrigger() {
			got.Status = market.StatusAwaitingTrigger
		}
	}
	got.AmountRemaining = max(0, got.Amount-own.FilledAmount)
	got.AmountQuoteRemaining = max(0, got.AmountQuote-own.AmountQuote+own.AmountQuoteRemaining)
	got.FilledAmount, got.FilledAmountQuote, got.FeePaid = own.FilledAmount, own.FilledAmountQuote, own.FeePaid
	got.OnHold = max(got.OnHold, own.OnHold)
	got.RestatementReason = own.RestatementReason
}
