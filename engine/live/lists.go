package live

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// openList is the list of the account's open orders: no end of an own order counts that it denies,
// and no order rests beside the books unseen.
type openList struct {
	base
	regular
	evidence
	proof      proof
	disconnect *disconnect
	newer      *newer
	// shown counts by client order id how many lists in a row show an order open that has ended in
	// the account.
	shown   map[uuid.UUID]int
	foreign int // orders that are not this bot's
}

// query queries the list when it is due.
func (l *openList) query(work context.Context) {
	if l.pending || l.next > l.now {
		return
	}
	asked := l.now
	l.regular = regular{next: asked.Add(l.channel.pace(l.OpenEvery)), pending: true}
	l.ask(func() func() {
		records, err := l.Trading.OpenOrders(work)
		return func() {
			l.pending, l.failed = false, err != nil
			l.compare(work, asked, records, err)
		}
	})
}

// soon queries the list in the next turn, or uses the answer that is pending.
func (l *openList) soon() {
	if !l.pending {
		l.next = min(l.next, l.now)
	}
}

// quiet reports whether nothing is in flight that could explain a difference.
func (l *Loop) quiet() bool {
	if l.sending != [ranks]int{} || !l.outbox.empty() || len(l.pages) > 0 {
		return false
	}
	for id, q := range l.queries.of {
		if o := l.Account.Known(id); q.unresolved != nil || q.doubted != nil || o != nil && o.InFlight != 0 {
			return false
		}
	}
	return true
}

// compare queries the orders of which a list shows something new, or which it lacks. The list
// counts only for orders whose last event came before the list was queried. Foreign orders are
// counted and never touched.
func (l *openList) compare(work context.Context, asked market.Time, records []exchange.WireOrder, err error) {
	if err != nil {
		l.Log.Warn().Err(err).Msg("open orders could not be listed")
		return
	}
	listed := map[uuid.UUID]*market.Order{}
	l.proof.shown = 0
	for i := range records {
		listed[records[i].Order.ClientOrderID] = &records[i].Order
	}
	l.evidence = evidenceOf(asked, records)
	for _, o := range l.Account.Open(nil, 0, 0) {
		there := listed[o.ClientOrderID]
		delete(listed, o.ClientOrderID)
		q := l.loop.queryOf(o.ID)
		if q.unresolved != nil || max(o.Updated, q.noticed) >= asked || l.Account.Own(o.ID).InFlight != 0 {
			continue
		}
		if there == nil || there.FilledAmount != o.FilledAmount || differ(there, o) {
			q.soon(l.now)
			l.proof.shown++
		}
	}
	foreign, shown, groups := 0, map[uuid.UUID]int{}, map[uint16]int{}
	for i := range records {
		name := records[i].Order.ClientOrderID // zero: it has none
		if _, strange := listed[name]; !strange {
			continue
		}
		if l.shownOpen(name, asked, shown) {
			l.proof.shown++
		} else if !l.newer.adoptLate(work, &records[i].Order) {
			foreign++
			groups[records[i].Order.CodGroupID]++
		}
	}
	l.clearListed(shown)
	if foreign != l.foreign {
		l.Log.Warn().Int("orders", foreign).Msg("open orders on this account that are not ours: they are left alone")
		l.ReconcileLog.Note(l.stamp(), "foreign orders", strconv.Itoa(foreign))
	}
	l.foreign = foreign
	l.disconnect.share(groups)
}

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
func (l *Loop) Proven() bool { return l.open.proven() }

func (l *openList) proven() bool {
	p := &l.proof
	if p.since == 0 || l.asked >= p.since && p.shown == 0 {
		return true
	}
	if !l.pending && l.now >= p.asked.Add(firstWait) {
		p.asked, l.next = l.now, l.now
	}
	return false
}

// deniedTillHalt is how long queries may say that an order has ended and lists show it open.
const deniedTillHalt = 5 * time.Minute

// provesEnd reports whether the answer to a query may end an order. An end that neither a command
// nor the order's terms ask for can be false, and a second exit would take the place of one that
// rests: it counts once a list of the open orders that is newer than the order's state lacks it.
// Until then the list is asked for, and then the order again. Where lists show the order on and on,
// its strategy is halted.
func (l *openList) provesEnd(own *state.Order, r *reply) bool {
	if r.from != fromQuery {
		return true
	}
	q, e := l.loop.queryOf(own.ID), &l.evidence
	newer := e.asked > max(own.Updated, q.noticed)
	switch {
	case r.trusted, !unasked(q.outcome(own), own, &r.record.Order), newer && !e.names[own.ClientOrderID]:
		q.denied = 0
		return true
	case newer && q.denied == 0:
		q.denied = l.now
	case newer && l.now.Sub(q.denied) >= deniedTillHalt:
		l.haltDenied(own, r.record.Order.Status)
	}
	l.soon()
	return false
}

// haltDenied halts the strategy of an order that has ended by queries and is open by lists: which
// of them is true stays unknown until a person decides.
func (l *openList) haltDenied(own *state.Order, status market.Status) {
	if _, halted := l.Engine.Halted(own.Strategy); halted || own.Strategy == 0 {
		return
	}
	l.Log.Error().Int64("order", int64(own.ID)).Stringer("query", status).Stringer("for", deniedTillHalt).
		Msg("queries say that an order has ended, and lists show it open: its strategy is halted")
	l.ReconcileLog.Discrepancy(l.now, &state.Discrepancy{What: "end of " + orderText(own.ID),
		Ours: own.State.String(), Theirs: status.String(), Conclusion: "not booked; halted", Order: own.ID})
	l.loop.halt(own.Strategy,
		fmt.Sprintf("for five minutes the exchange has said that order %d is %s, and has listed it as open: "+
			"it counts as open; look at the exchange, then bot resolve %d", own.ID, status, own.ID))
}

func orderText(id market.OrderID) string { return "order " + strconv.FormatInt(int64(id), 10) }
