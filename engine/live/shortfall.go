package live

import (
	"context"

	"github.com/tidemark-trading/tidemark/market"
)

// queryRest queries the trades that a record has left out. After a write the outcome is then
// unresolved, and its order is queried first.
func (l *Loop) queryRest(id market.OrderID, r *reply) {
	if q := l.queries.of[id]; q != nil && r.from == fromQuery {
		q.short = r
		q.soon(l.now)
	}
}

// queryTrades fetches the market's trades since an order began, adds to its record the fills that
// it lacked, and receives the record again.
func (l *Loop) queryTrades(work context.Context, q *query) {
	own, r := l.ownOf(q), q.short
	m, client, from := own.Market, own.ClientOrderID, own.Created.Add(-lastWait)
	q.short = nil
	q.begin()
	l.querying++
	l.workers.Go(func() {
		trades, err := l.tradesOf(work, m, client, from)
		l.replies <- func() {
			l.querying--
			q.end()
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
