package live

import (
	"errors"

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

var errFalseRefusal = errors.New("it was refused over the socket, and the exchange has the order")

// holdsBack holds the refusal of a place back that came over a socket: it counts when a query that
// was put after it does not find the order. Where the query finds the order, the place is
// unresolved, and the record tells its outcome.
func (l *Loop) holdsBack(q *query, own *state.Order, r *reply) bool {
	refusal := q.refusal
	switch {
	case own == nil || own.InFlight != market.CommandPlace || q.unresolved != nil:
		q.refusal = nil
	case refusal == nil && r.from == fromSend && r.record.BySocket && exchange.OutcomeOf(r.err) == exchange.Rejected:
		q.refusal = r
		q.soon(l.now)
		return true
	case refusal == nil || r.from != fromQuery || r.asked < refusal.asked:
	case isNotFound(r.err):
		l.receive(q, refusal)
		q.refusal = nil
		return true
	case r.err == nil:
		refusal.err = errFalseRefusal
		l.receive(q, refusal)
		l.contradict(q.id, own.Strategy)
	}
	return false
}
