package live

import (
	"context"

	"github.com/tidemark-trading/tidemark/market"
)

// queryRest queries the trades that a record has left out. After a write the outcome is then
// unresolved, and its order is queried first.
func (j *auditor) queryRest(id market.OrderID, r *reply) {
	if q := j.queries.of[id]; q != nil && r.from == fromQuery {
		q.short = r
		q.soon(j.now)
	}
}

// queryTrades fetches the market's trades since an order began, adds to its record the fills that
// it lacked, and receives the record again.
func (l *Loop) queryTrades(work context.Context, q *query) {
	own, r := q.own(l.Account), q.short
	m, client, from := own.Market, own.ClientOrderID, own.Created.Add(-lastWait)
	q.short = nil
	q.begin()
	l.querying++
	l.ask(func() func() {
		trades, err := tradesOf(work, l.Trading, m, client, from)
		return func() {
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
