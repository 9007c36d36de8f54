package live

import (
	"context"

	"github.com/tidemark-trading/tidemark/market"
)

// askRest lets the trades be asked for that a record has left out. The answer to a write is then
// unresolved, and its order is queried first.
func (l *Loop) askRest(id market.OrderID, r *reply) {
	if q := l.queries[id]; q != nil && r.from == fromQuery {
		q.short = r
		q.soon(l.now)
	}
}

// askTrades asks for the market's trades since an order began, for those that its record has left
// out, and receives the record again with them.
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
