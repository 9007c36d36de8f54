package live

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// An own order that has ended in the account and that two lists show open is a discrepancy: while
// it lasts, limits on open orders and exposure miss it. It is queried, then reopened in the
// account, or cancelled where it cannot be reopened. If lists still show it then, all strategies
// halt.
const (
	listsToBelieve = 2               // the first list may be older than the order's end
	listsToHalt    = 5               // by then the query has had three minutes, the cancel two
	listAgainWait  = 5 * time.Second // from the first list to the second
)

// endedOrder is an own order with this client order id that has ended in the account; nil: none.
func (l *openList) endedOrder(client uuid.UUID) *state.Order {
	for _, o := range l.Account.Pending(nil) {
		if o.ClientOrderID == client && o.State.Terminal() {
			return o
		}
	}
	if o := l.Account.PresumedAbsent(client); o != nil {
		return o
	}
	if l.Ended == nil {
		return nil
	}
	return l.Ended(client)
}

// queryEnded is the query of an order that has ended in the account.
func (l *openList) queryEnded(own *state.Order) *query {
	q := l.loop.queryOf(own.ID)
	if l.Account.Known(own.ID) == nil {
		q.ended = own
	}
	return q
}

// shownOpen handles an order that a list shows open and that is not open in the account. It reports
// whether the order is this bot's. shown counts lists in a row by client order id.
func (l *openList) shownOpen(client uuid.UUID, asked market.Time, shown map[uuid.UUID]int) bool {
	if client == uuid.Nil {
		return false
	}
	own := l.endedOrder(client)
	if own == nil {
		return l.Owns != nil && l.Owns(client)
	}
	if own.State == state.Rejected && l.Account.Known(own.ID) != nil {
		l.loop.queryOf(own.ID).soon(l.now) // it had arrived after all
	}
	if q := l.queries.of[own.ID]; own.Updated >= asked || q != nil && q.noticed >= asked {
		return true
	}
	shown[client] = l.shown[client] + 1
	if shown[client] < listsToBelieve {
		l.next = min(l.next, l.now.Add(listAgainWait))
		return true
	}
	l.loop.receive(l.queryEnded(own), &reply{from: fromRegular, asked: asked, shown: shown[client]})
	return true
}

// clearListed drops the discrepancies of orders that the latest list no longer shows.
func (l *openList) clearListed(shown map[uuid.UUID]int) {
	for id, q := range l.queries.of {
		if own := q.own(l.Account); q.listed && own != nil && shown[own.ClientOrderID] == 0 {
			q.listed, q.cancelling, q.ended = false, false, nil
			l.loop.follow(id)
		}
	}
	l.shown = shown
}

// filledAfterEnd reports whether a trade is a fill of an own order that has ended in the account
// without it: an answer about its end was false. The order is queried, and reopened as its record
// says. While own fills are booked it is not: the trade may be one of them.
func (l *openList) filledAfterEnd(t *exchange.Trade, booking bool) bool {
	if t.ClientOrderID == uuid.Nil {
		return false
	}
	own := l.endedOrder(t.ClientOrderID)
	if own == nil || own.Strategy == 0 || own.Knows(&t.Fill) {
		return false
	}
	if booking {
		return true
	}
	q := l.queryEnded(own)
	if !q.listed {
		q.listed = true
		l.Log.Error().Int64("order", int64(q.id)).Stringer("client_order_id", own.ClientOrderID).
			Stringer("books", own.State).
			Msg("an order that had ended in the account has filled: it is queried, then reopened")
		l.ReconcileLog.Note(l.stamp(), "filled after its end", orderText(q.id))
	}
	q.soon(l.now)
	return true
}

func (l *Loop) logListedEnded(q *query) {
	own := q.own(l.Account)
	l.Log.Error().Int64("order", int64(q.id)).Stringer("client_order_id", own.ClientOrderID).
		Stringer("books", own.State).
		Msg("two lists of the exchange show an order open that has ended in the account: " +
			"it is queried, then reopened or cancelled")
	l.ReconcileLog.Note(l.stamp(), "open after its end", orderText(q.id))
}

// reopen opens an ended order again as its record says. A record without news changes nothing.
func (l *Loop) reopen(q *query, r *reply) {
	own := q.own(l.Account)
	order := r.record.Order
	order.ID = q.id
	if report := market.ReportOf(&order, market.ExecTrade); order.Done() && own.Shows(&report, r.record.Fills) {
		return
	}
	l.Log.Warn().Int64("order", int64(q.id)).Stringer("books", own.State).Stringer("exchange", order.Status).
		Msg("an order that had ended in the account is reopened")
	text, err := l.Account.SaveOrder(own, l.Engine.Names())
	if err == nil {
		err = l.input(&market.Input{Kind: market.InputReopen, Saved: text}).Err
	}
	if err != nil {
		l.failed = fmt.Errorf("live: %w", err)
		return
	}
	if q.cancelling && !order.Done() {
		l.input(&market.Input{Kind: market.InputCancelling, Orders: []market.OrderID{q.id}})
	}
	l.report(q.id, r.record, market.ExecTrade)
}

// cancelListed cancels an order that is not open in the account.
func (l *Loop) cancelListed(q *query) {
	l.Log.Error().Int64("order", int64(q.id)).
		Msg("an order that has ended in the account is still listed as open and cannot be reopened: it is cancelled")
	order := q.own(l.Account).Order
	l.input(&market.Input{Kind: market.InputCancelEnded, Order: &order})
}

// haltListed halts all strategies, because an order is open at the exchange and not in the account.
func (l *Loop) haltListed(q *query) {
	if !q.cancelling {
		l.cancelListed(q)
	}
	text := "the exchange lists " + orderText(q.id) +
		" as open, which has ended in the account: it could be neither reopened nor cancelled"
	l.Log.Error().Int64("order", int64(q.id)).Msg(text + ": all strategies are halted")
	l.halt(0, text)
}
