package live

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// queryRegular queries the open orders and the balances when they are due.
func (l *Loop) queryRegular(work context.Context) {
	if !l.open.pending && l.open.next <= l.now {
		l.open = regular{next: l.now.Add(l.pace(l.OpenEvery)), pending: true}
		asked := l.now
		l.workers.Go(func() {
			records, err := l.Trading.OpenOrders(work)
			l.replies <- func() {
				l.open.pending, l.open.failed = false, err != nil
				l.compareOrders(asked, records, err)
			}
		})
	}
	l.queryHoldings(work)
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

// compareOrders queries the orders of which a list shows something new, or which it lacks. The list
// counts only for orders whose last event came before the list was queried. Foreign orders are
// counted and never touched.
func (l *Loop) compareOrders(asked market.Time, records []exchange.WireOrder, err error) {
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
		q := l.queryOf(o.ID)
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
		l.ReconcileLog.Note("foreign orders", strconv.Itoa(foreign))
	}
	l.foreign = foreign
	l.disconnect.share(groups, l.now)
}

func orderText(id market.OrderID) string { return "order " + strconv.FormatInt(int64(id), 10) }
