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
		if l.auditor.owners.of[fillName{o.Market, t.ID}] == 0 && l.open.filledAfterEnd(&t, false) {
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

var errFalseRefusal = errors.New("it was refused over the socket, and the exchange has carried it out")

// refusalPatience is how long after a refusal over a socket an answer that shows nothing of the
// write does not count yet: the refusal may be another's, and the write still under way.
const refusalPatience = firstWait

// holdsBack holds the refusal of a write back that came over a socket: judge decides about it.
func (l *Loop) holdsBack(q *query, own *state.Order, r *reply) bool {
	switch {
	case own == nil || own.InFlight == 0 || q.unresolved != nil:
		q.refusal = nil
	case q.refusal == nil && r.from == fromSend && r.record.BySocket && exchange.OutcomeOf(r.err) == exchange.Rejected:
		q.refusal = r
		q.soon(l.now)
		return true
	}
	return false
}

// judge lets a refusal that was held back count where the answer to a query that was put after it
// shows that the write changed nothing. Where the answer shows the write carried out, the write is
// unresolved, and the answer tells its outcome. It reports whether the refusal is decided.
func (l *Loop) judge(q *query, own *state.Order, r *reply, a answer) bool {
	refusal := q.refusal
	if refusal == nil || r.from != fromQuery || r.asked < refusal.asked || a == noAnswer || a == answerRefuted {
		return false
	}
	denied := r.err == nil && refusal.denied(own, &r.record.Order)
	ended := r.err == nil && r.record.Order.Done()
	if !denied && !ended && r.asked < refusal.asked.Add(refusalPatience) {
		return false
	}
	id, strategy := q.id, own.Strategy
	if denied {
		refusal.err = errFalseRefusal
	}
	l.receive(q, refusal)
	if denied {
		l.channel.contradict(id, strategy)
	}
	return true
}

// denied reports whether an order shows that a write was carried out which was refused. An order
// that its cancel did not find may have been cancelled by someone else.
func (r *reply) denied(own *state.Order, got *market.Order) bool {
	switch c := &r.write.command; c.Kind {
	case market.CommandUpdate:
		return shows(got, c) && !shows(&own.Order, c)
	case market.CommandCancel:
		return got.Status == market.StatusCanceled && !isNotFound(r.err)
	}
	return true
}
