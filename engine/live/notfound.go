package live

import (
	"context"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// tellMissing tells a person of an order that the exchange had taken, and does not find.
func (l *Loop) tellMissing(q *query, asked market.Time) {
	q.notFoundSince = asked
	own := l.Account.Known(q.id)
	l.Log.Error().Int64("order", int64(q.id)).Stringer("client_order_id", own.ClientOrderID).Stringer("decided_in", takenPatience).
		Msg("the exchange does not know an order that it had taken: it is asked for again, then the lists decide")
	l.Findings.Remark("missing", orderText(q.id))
}

// askLists asks the lists for an order that is not found by itself.
func (l *Loop) askLists(work context.Context, q *query) {
	own := l.Account.Known(q.id)
	m, client, from := own.Market, own.ClientOrderID, own.Created.Add(-lastWait)
	r := reply{from: fromLists, asked: l.now}
	q.asking = true
	l.asking++
	l.workers.Go(func() {
		r.open, r.trades, r.err = l.lists(work, m, client, from)
		l.replies <- func() {
			l.asking--
			q.asking, q.lists = false, false
			l.stamp()
			l.receive(q, &r)
		}
	})
}

// lists asks whether an order is open, and for its trades since a time, by the client's name.
func (l *Loop) lists(work context.Context, m market.ID, client uuid.UUID, from market.Time) (open bool, trades []exchange.Trade, err error) {
	records, err := l.Trading.OpenOrders(work)
	if err != nil {
		return false, nil, err
	}
	for i := range records {
		open = open || records[i].Order.ClientOrderID == client
	}
	trades, err = l.tradesOf(work, m, client, from)
	return open, trades, err
}

// tradesOf asks for an order's trades since a time, page by page.
func (l *Loop) tradesOf(work context.Context, m market.ID, client uuid.UUID, from market.Time) (trades []exchange.Trade, err error) {
	for more := true; more; {
		var page []exchange.Trade
		if page, more, err = l.Trading.Trades(work, m, from); err != nil {
			return nil, err
		}
		for i := range page {
			if page[i].ClientOrderID == client {
				trades = append(trades, page[i])
			}
			from = max(from, page[i].Time)
		}
	}
	return trades, nil
}

// endAbsent ends an order that never reached the exchange. A place that the last process sent has not been told as unknown yet; it is, so that
// the account remembers that its end is concluded, and takes the order back where the exchange shows it after all.
func (l *Loop) endAbsent(q *query, c *market.Command) {
	l.Log.Warn().Int64("order", int64(q.id)).Msg("an unresolved order has certainly not reached the exchange: its funds are free again")
	if l.Account.Known(q.id).State == state.Sent {
		l.answer(c, market.ExecUnknown, 0)
	}
	l.answer(c, market.ExecRejected, 0)
}

// endByTrades ends an order that the exchange neither finds nor lists, with what its trades tell.
func (l *Loop) endByTrades(q *query, r *reply) {
	own := l.Account.Known(q.id)
	l.Log.Error().Int64("order", int64(q.id)).Stringer("client_order_id", own.ClientOrderID).Int("trades", len(r.trades)).
		Msg("an order has ended that the exchange neither finds nor lists; if the exchange has begun anew, stop the bot and give it a new bot.state")
	l.Findings.Remark("gone", orderText(q.id))
	l.report(q.id, r.record, market.ExecCanceled)
}

// lastRecord is how an order has ended of which only its trades are known: all of them or, at an exchange that has forgotten these too, fewer
// than were heard of before.
func (l *Loop) lastRecord(own *market.Order, trades []exchange.Trade) (*exchange.Record, error) {
	var filled market.Qty
	var quote, fees market.Value
	record := &exchange.Record{Order: *own}
	for i := range trades {
		f := trades[i].Fill
		value, err := l.Account.Catalog().Market(own.Market).Value(f.Price, f.Amount)
		if err == nil {
			quote, err = quote.Add(value)
		}
		if err == nil {
			fees, err = fees.Add(f.Fee)
		}
		if err != nil {
			return nil, err
		}
		filled += f.Amount
		record.Fills = append(record.Fills, f)
	}
	o := &record.Order
	if filled > o.FilledAmount {
		o.FilledAmount, o.FilledAmountQuote, o.FeePaid = filled, quote, fees
		o.AmountRemaining = max(0, o.Amount-filled)
	}
	o.Status, o.OnHold, o.Updated = market.StatusCanceled, 0, max(o.Updated, l.now)
	if o.Amount > 0 && o.FilledAmount >= o.Amount {
		o.Status = market.StatusFilled
	}
	return record, nil
}
