package live

import (
	"context"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// pageFills is how many new fills are booked in one turn. An answer with more is booked in pages, one a turn, so that the loop answers meanwhile.
const pageFills = 500

// page books the first new fills of a reply that has too many of them, and lets the reply be received again in the next turn. It reports whether
// it did.
func (l *Loop) page(q *query, r *reply) bool {
	own := l.Account.Known(q.id)
	if own == nil || r.err != nil || r.record == nil || len(r.record.Fills) <= pageFills {
		return false
	}
	var fresh []market.Fill
	seen := make(map[fillName]bool, len(l.auditor.fills[q.id]))
	for i := range l.auditor.fills[q.id] {
		f := &l.auditor.fills[q.id][i]
		seen[fillName{f.Market, f.ID}] = f.Settled
	}
	for i := range r.record.Fills {
		f := r.record.Fills[i]
		name := fillName{own.Market, f.ID}
		if settled, known := seen[name]; known && (settled || !f.Settled) {
			continue
		}
		seen[name] = true
		f.Order, f.Market, f.Strategy, f.Side = q.id, own.Market, own.Strategy, own.Side
		fresh = append(fresh, f)
	}
	if len(fresh) <= pageFills {
		return false
	}
	l.step(&market.Event{Kind: market.KindFill, Market: own.Market, Fills: fresh[:pageFills]})
	l.later = append(l.later, func() { l.receive(q, r) })
	return true
}

// goOn takes up what was left for this turn.
func (l *Loop) goOn() {
	waiting := slices.Clone(l.later)
	l.later = l.later[:0]
	for _, f := range waiting {
		f()
	}
}

// askRest lets the trades be asked for that a record has left out. The answer to a write is then unresolved, and its order is queried first.
func (l *Loop) askRest(id market.OrderID, r *reply) {
	if q := l.queries[id]; q != nil && r.from == fromQuery {
		q.short = r
		q.soon(l.now)
	}
}

// askTrades asks for the market's trades since an order began, for those that its record has left out, and receives the record again with them.
func (l *Loop) askTrades(work context.Context, q *query) {
	own, r := l.Account.Known(q.id), q.short
	m, client, from := own.Market, own.ClientOrderID, own.Created.Add(-lastWait)
	q.short, q.asking = nil, true
	l.asking++
	l.workers.Go(func() {
		trades, err := l.tradesOf(work, m, client, from)
		l.replies <- func() {
			l.asking--
			q.asking = false
			l.stamp()
			if err != nil {
				l.Log.Debug().Err(err).Int64("order", int64(q.id)).Msg("the trades of an order could not be asked for")
				return
			}
			for i := range trades {
				r.record.Fills = append(r.record.Fills, trades[i].Fill)
			}
			r.whole = true
			l.receive(q, r)
		}
	})
}
