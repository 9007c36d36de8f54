package live

import (
	"context"
	"math"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// query is how the loop queries one order: when next, and what is unresolved.
type query struct {
	id      market.OrderID
	next    market.Time
	wait    market.Duration // between the next query and the following one
	pending bool

	agenda *queryQueue // nil: removed from it
	heap   *queryHeap  // that it is in; nil: none
	place  int         // in heap

	unresolved    *unresolved // the write whose outcome is unknown; nil: none
	notFoundSince market.Time // of the first 240 in a row that counts; 0: none
	lists         bool        // the lists are queried next, not the order itself
	short         *reply      // a record that lacks fills: the trades are queried next; nil: none
	listsSince    market.Time // when the 240 was queried that led to the lists
	trusted       bool        // the next record is booked in any case: a person has decided
	refusal       *reply      // of the write in flight, over a socket, until a query decides about it; nil: none
	unsent        bool        // the last command could not be sent; logged already

	asked   market.Time // when the order was queried last
	doubts  market.Time // until then the queries because of events use up a second each
	noticed market.Time // when the latest event of the account channel came; 0: there was none

	denied     market.Time  // since when lists show the order open and queries say that it has ended; 0: they do not
	doubted    *doubt       // what events told and the exchange has not confirmed; nil: nothing
	listed     bool         // lists show the order open, or a trade has filled it, and it has ended in the account
	cancelling bool         // a cancel of that order is in flight
	ended      *state.Order // that order, where the account has forgotten it
}

// unresolved is a write whose outcome is unknown.
type unresolved struct {
	outcome resolution
	command market.Command
	since   market.Time // the answer to an earlier query may be older than the write
	until   market.Time // on the exchange's clock: later the exchange cannot take the write
}

// The waits between two queries of an order.
const (
	firstWait    = time.Second
	lastWait     = time.Minute
	notFoundWait = 5 * time.Second // while an accepted order is not found
	laterWait    = 10 * time.Minute
)

// soon queries the order in the next turn, and then again after a short wait.
func (q *query) soon(now market.Time) {
	q.at(now)
	q.wait = firstWait
}

// in queries the order after wait, and then again after a short wait.
func (q *query) in(wait market.Duration, now market.Time) {
	q.at(now.Add(wait))
	q.wait = firstWait
}

// queryOf returns the query of an order, a new one where there is none.
func (l *Loop) queryOf(id market.OrderID) *query {
	q := l.queries.of[id]
	if q == nil {
		wait := firstWait
		if l.channel.up {
			wait = upFirst
		}
		q = &query{id: id, next: l.now.Add(wait), wait: 2 * wait}
		l.queries.add(q)
	}
	return q
}

// own is the order of a query, as the account has it or had it; nil: the order has ended and
// expects nothing more.
func (q *query) own(a *state.Account) *state.Order {
	if own := a.Known(q.id); own != nil {
		return own
	}
	return q.ended
}

// follow keeps the query of an order as long as the order expects something.
func (l *Loop) follow(id market.OrderID) {
	if q := l.queries.of[id]; !l.Account.Expects(id) && (q == nil || q.ended == nil) {
		l.queries.remove(id)
		return
	}
	l.queryOf(id)
}

// queryReached soon queries the orders whose price a market event has reached: they may have
// filled.
func (l *Loop) queryReached(ev *market.Event) {
	var m market.ID
	var low, high market.Price
	switch ev.Kind {
	case market.KindTicker:
		m, low, high = ev.Ticker.Market, lowest(ev.Ticker.Last, ev.Ticker.Ask), max(ev.Ticker.Last, ev.Ticker.Bid)
	case market.KindTrade:
		m, low, high = ev.Trade.Market, ev.Trade.Price, ev.Trade.Price
	default:
		return
	}
	l.index.follow()
	l.index.nearby = l.index.waiting[m].reached(l.index.nearby[:0], low, high)
	for _, id := range l.index.nearby {
		switch q := l.queries.of[id]; {
		case q == nil || q.wait <= firstWait:
		case l.channel.up:
			q.at(min(q.next, l.now.Add(upReached)))
		default:
			q.soon(l.now)
		}
	}
}

// lowest is the smaller of two prices; 0 is no price.
func lowest(a, b market.Price) market.Price {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// queryDue sends the queries of orders and lists that are due.
func (l *Loop) queryDue(work context.Context) {
	for l.querying < maxInFlight {
		q := l.queries.first(l.now)
		if q == nil {
			break
		}
		switch {
		case q.own(l.Account) == nil:
			l.queries.remove(q.id)
		case q.short != nil:
			l.queryTrades(work, q)
		case q.lists:
			l.queryLists(work, q)
		default:
			l.queryOrder(work, q)
		}
	}
	l.open.query(work)
	l.holdings.query(work)
	l.disconnect.renew(work)
}

// queryOrder sends GET /order.
func (l *Loop) queryOrder(work context.Context, q *query) {
	own := q.own(l.Account)
	id, client, name := own.Market, own.ClientOrderID, own.ExchangeID
	question := l.Trading.Order
	if l.stopped || q.doubted != nil || q.refusal != nil || own.InFlight == market.CommandCancel || own.CancelWanted {
		question = l.Trading.OrderUrgent
	}
	r := reply{from: fromQuery, asked: l.now, trusted: q.trusted}
	q.asked = l.now
	if q.doubted != nil {
		q.doubts = max(q.doubts, l.now).Add(firstWait)
	}
	q.begin()
	l.querying++
	l.ask(func() func() {
		record, err := question(work, id, client, name)
		return func() {
			l.querying--
			q.next, q.wait = l.stamp().Add(q.wait), min(2*q.wait, l.channel.longestPause(q))
			q.end()
			r.record, r.err = &record, err
			if l.receive(q, &r); q.doubted != nil && q.doubted.told > r.asked {
				q.at(q.mayDoubt(l.now)) // of later than the question
			}
		}
	})
}

// Adopted makes the loop query a sell order that was sent without it and that the engine has
// adopted, until its outcome is known. The exchange could take the order until until. Call it
// within Do.
func (l *Loop) Adopted(id market.OrderID, until market.Time) {
	own := l.Account.Own(id)
	if own == nil {
		return
	}
	q := l.queryOf(id)
	q.unresolved = &unresolved{outcome: placeUnresolved,
		command: market.Command{Kind: market.CommandPlace, Order: own.Order}, until: until.Add(l.Margin)}
	q.soon(l.now)
}

// QueryOrder queries an order soon, because something outside the loop has changed it. Call it
// within Do.
func (l *Loop) QueryOrder(id market.OrderID) {
	if l.Account.Expects(id) {
		l.queryOf(id).soon(l.now)
	}
}

// prevented reports whether a report tells that self-trade prevention has changed its order. That
// changes two orders of the account (specification 4.4), and each record tells of its own alone. An
// order that cancels older ones has no word for it: its record alone never shows that it met some.
func prevented(own *state.Order, r *market.Report) bool {
	switch r.RestatementReason {
	case market.DecrementOnSelfTradePrevention, market.CancelOnSelfTradePrevention:
		return r.RestatementReason != own.RestatementReason || r.Amount != own.Amount ||
			r.AmountQuote != own.AmountQuote
	}
	return r.SelfTradePrevention == market.CancelOldest &&
		(!own.Reported || r.Triggered != own.Triggered || r.Exec == market.ExecUpdated)
}

// queryMet queries the own orders that an order may have met: those of the other side whose price
// its own reaches.
func (l *Loop) queryMet(r *market.Report, side market.Side) {
	l.index.follow()
	met, near := &l.index.waiting[r.Market], l.index.nearby[:0]
	switch {
	case side == market.Sell:
		near = met.buys.between(near, r.Price, math.MaxInt64)
	case r.Price == 0:
		near = met.sells.between(near, 0, math.MaxInt64)
	default:
		near = met.sells.between(near, 0, r.Price)
	}
	for _, id := range near {
		l.queryOf(id).soon(l.now)
	}
	l.index.nearby = near
}
