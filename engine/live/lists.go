package live

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// openList is the list of the account's open orders: no end of an own order counts that it denies,
// and no order rests beside the books unseen.
type openList struct {
	base
	regular
	evidence
	proof      proof
	disconnect *disconnect
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
			l.compare(asked, records, err)
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
func (l *openList) compare(asked market.Time, records []exchange.WireOrder, err error) {
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
		} else {
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

func orderText(id market.OrderID) string { return "order " + strconv.FormatInt(int64(id), 10) }
