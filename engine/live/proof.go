package live

import "github.com/tidemark-trading/tidemark/market"

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
