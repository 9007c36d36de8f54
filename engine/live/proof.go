package live

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// proof is the question whether the exchange has an open order that has ended in the account: an
// event or an answer about its end can be false. "No order is open" is said only of a list that was
// asked for after the latest end.
type proof struct {
	since market.Time // of the latest end of an own order in this process; 0: there was none
	asked market.Time // when the list was last asked for
	shown int         // own orders that the latest list shows open after their end
}

// ended notes the end of an own order.
func (p *proof) ended(ev *market.Event, now market.Time) {
	if r := ev.Report; r != nil && (r.Status.Terminal() || r.Exec == market.ExecRejected) {
		p.since = now
	}
}

// Proven reports whether a list of the open orders that was asked for after the latest end of an
// own order shows none of them open, and asks for one where there was none. Orders that it shows
// are queried and opened again. Call it within Do.
func (l *Loop) Proven() bool {
	p := &l.proof
	if p.since == 0 || l.evidence.asked >= p.since && p.shown == 0 {
		return true
	}
	if !l.open.pending && l.now >= p.asked.Add(firstWait) {
		p.asked, l.open.next = l.now, l.now
	}
	return false
}

// provesEnd reports whether the answer to a query may end an order. An end that neither a command
// nor the order's terms ask for can be false, and a second exit would take the place of one that
// rests: it counts once a list of the open orders that is newer than the order's state lacks it.
// Until then the list is asked for, and then the order again.
func (l *Loop) provesEnd(own *state.Order, r *reply) bool {
	if r.from != fromQuery || r.trusted {
		return true
	}
	q, e := l.queryOf(own.ID), &l.evidence
	if !unasked(l.outcomeOf(q, own), own, &r.record.Order) ||
		e.asked > max(own.Updated, q.noticed) && !e.names[own.ClientOrderID] {
		return true
	}
	if !l.open.pending {
		l.open.next = min(l.open.next, l.now)
	}
	return false
}
