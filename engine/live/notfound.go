package live

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// logNotFound reports an order that the exchange had accepted and does not find.
func (l *Loop) logNotFound(q *query, asked market.Time) {
	q.notFoundSince = asked
	own := l.Account.Known(q.id)
	l.Log.Error().Int64("order", int64(q.id)).Stringer("client_order_id", own.ClientOrderID).
		Stringer("decided_in", acceptedPatience).
		Msg("the exchange does not know an order that it had taken: it is asked for again, then the lists decide")
	l.ReconcileLog.Note(l.stamp(), "missing", orderText(q.id))
}

// The weights of GET /ordersOpen (venue-facts 1.3), in points.
const (
	listWeight    = 5   // of one market
	allListWeight = 100 // of all markets
)

// evidence is the latest list of the open orders of all markets.
type evidence struct {
	asked market.Time // 0: there was none
	names map[uuid.UUID]bool
}

func evidenceOf(asked market.Time, records []exchange.WireOrder) evidence {
	e := evidence{asked: asked, names: make(map[uuid.UUID]bool, len(records))}
	for i := range records {
		e.names[records[i].Order.ClientOrderID] = true
	}
	return e
}

// counts reports whether the list was queried late enough: for a place after the first 240 that
// counts, for an accepted order after the last one.
func (e *evidence) counts(q *query, now resolution) bool {
	if now == placeUnresolved {
		return e.asked > 0 && e.asked >= q.notFoundSince
	}
	return e.asked > 0 && e.asked >= q.listsSince
}

// queryLists looks for an order that GET /order does not find in the lists: its market's, or the
// list of all markets where that counts, is pending, or is cheaper for all waiting orders.
func (l *Loop) queryLists(work context.Context, q *query) {
	own := l.Account.Known(q.id)
	m, client, from := own.Market, own.ClientOrderID, own.Created.Add(-lastWait)
	r := reply{from: fromLists, asked: l.now}
	now := q.outcome(own)
	have := l.open.evidence.counts(q, now)
	if !have && l.open.allInstead() {
		q.in(firstWait, l.now)
		return
	}
	if have {
		r.asked, r.open = l.open.evidence.asked, l.open.evidence.names[client]
	}
	q.begin()
	l.querying++
	l.ask(func() func() {
		if !have {
			r.open, r.err = isOpen(work, l.Trading, m, client)
		}
		if r.err == nil {
			r.trades, r.err = tradesOf(work, l.Trading, m, client, from)
		}
		return func() {
			l.querying--
			q.lists = false
			q.end()
			l.stamp()
			l.receive(q, &r)
		}
	})
}

// allInstead reports whether the list of all markets is worth waiting for, and queries it then:
// so many orders wait for lists, or will after their second 240, that their own lists would cost
// more.
func (l *openList) allInstead() bool {
	waiting := 0
	for id, q := range l.queries.of {
		own := l.Account.Known(id)
		if own == nil || q.notFoundSince == 0 {
			continue
		}
		now := q.outcome(own)
		if (q.lists || now == placeUnresolved) && !l.evidence.counts(q, now) {
			waiting++
		}
	}
	if waiting*listWeight < allListWeight {
		return false
	}
	switch {
	case l.failed && !l.pending:
		l.next = min(l.next, l.now.Add(notFoundWait))
	default:
		l.soon()
	}
	return true
}

// isOpen looks for a client order id in the list of a market's open orders.
func isOpen(work context.Context, trading exchange.Trading, m market.ID, client uuid.UUID) (bool, error) {
	records, err := trading.OpenOrdersIn(work, m)
	return slices.ContainsFunc(records, func(r exchange.WireOrder) bool { return r.Order.ClientOrderID == client }), err
}

// tradesOf fetches the trades of an order since a time, by client order id.
func tradesOf(work context.Context, trading exchange.Trading, m market.ID, client uuid.UUID,
	from market.Time) (trades []exchange.Trade, err error) {
	err = eachTrade(work, trading, m, from, func(t *exchange.Trade) {
		if t.ClientOrderID == client {
			trades = append(trades, *t)
		}
	})
	return trades, err
}

// endAbsent ends an order that never reached the exchange. A place of the last process has not been
// reported as unknown yet; it is now, so that the account remembers that its end is inferred, and
// reopens the order if the exchange shows it after all.
func (l *Loop) endAbsent(q *query, c *market.Command) {
	l.Log.Warn().Int64("order", int64(q.id)).
		Msg("an unresolved order has certainly not reached the exchange: its funds are free again")
	if l.Account.Known(q.id).State == state.Sent {
		l.answer(c, market.ExecUnknown, 0)
	}
	l.answer(c, market.ExecRejected, 0)
}

// endByTrades ends an order that the exchange neither finds nor lists, with the fills of its
// trades.
func (l *Loop) endByTrades(q *query, r *reply) {
	own := l.Account.Known(q.id)
	why := "; if the exchange has begun anew, stop the bot and give it a new bot.state"
	switch {
	case r.gone:
		why = ": its market has gone"
	case len(r.trades) > 0:
		why = ": its trades tell what it has filled"
	}
	l.Log.Error().Int64("order", int64(q.id)).Stringer("client_order_id", own.ClientOrderID).
		Int("trades", len(r.trades)).
		Msg("an order has ended that the exchange neither finds nor lists" + why)
	l.ReconcileLog.Note(l.stamp(), "gone", orderText(q.id))
	l.report(q.id, r.record, market.ExecCanceled)
}

// lastRecord is the final record of an order of which only trades are known. An exchange that has
// forgotten trades too may show fewer fills than before.
func (l *Loop) lastRecord(own *market.Order, trades []exchange.Trade) (*exchange.WireOrder, error) {
	var filled market.Qty
	var quote, fees market.Value
	record := &exchange.WireOrder{Order: *own}
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
