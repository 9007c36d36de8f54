package live

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// query is how the loop asks the exchange about one order: when next, and what the answers are to
// resolve.
type query struct {
	id     market.OrderID
	next   market.Time
	wait   market.Duration // between the next query and the one after it
	asking bool

	unresolved    *unresolved // the write whose outcome is not known; nil: none
	notFoundSince market.Time // of the first 240 in a row that counts; 0: none
	lists         bool        // the lists are asked next, not the order itself
	short         *reply      // a record that lacks fills: the trades are asked for next; nil: none does
	listsSince    market.Time // when the 240 was asked for that leads to the lists
	trusted       bool        // the next record is booked, whatever it says: a person has decided
	unsent        bool        // the last command could not be sent, and the log has told

	listed     bool         // lists show the order open, which has ended by the books
	cancelling bool         // a cancel of that order is on its way
	ended      *state.Order // that order, where the account has forgotten it
}

// unresolved is a write whose outcome is not known.
type unresolved struct {
	outcome outcome
	command market.Command
	since   market.Time // an answer to an earlier question may be older than the write
	until   market.Time // on the exchange's clock: later the exchange cannot take it any more
}

// The waits between two queries of an order.
const (
	firstWait    = time.Second
	lastWait     = time.Minute
	notFoundWait = 5 * time.Second // while an order that the exchange had taken is not found
	laterWait    = 10 * time.Minute
)

// soon lets the order be queried with the next turn, and then again after a short while.
func (q *query) soon(now market.Time) { q.next, q.wait = now, firstWait }

// in lets the order be queried after a while, and then again after a short one.
func (q *query) in(wait market.Duration, now market.Time) { q.next, q.wait = now.Add(wait), firstWait }

// queryOf returns the query of an order, a new one where there is none.
func (l *Loop) queryOf(id market.OrderID) *query {
	q := l.queries[id]
	if q == nil {
		q = &query{id: id, next: l.now.Add(firstWait), wait: 2 * firstWait}
		l.queries[id] = q
	}
	return q
}

// ownOf is the order of a query, as the account has it or had it; nil: it has ended, and nothing
// more is expected of it.
func (l *Loop) ownOf(q *query) *state.Order {
	if own := l.Account.Known(q.id); own != nil {
		return own
	}
	return q.ended
}

// follow keeps the query of an order as long as anything is expected of the order.
func (l *Loop) follow(id market.OrderID) {
	if q := l.queries[id]; !l.Account.Expects(id) && (q == nil || q.ended == nil) {
		delete(l.queries, id)
		return
	}
	l.queryOf(id)
}

// notice lets orders be queried soon whose price a market event has reached: they may have filled.
func (l *Loop) notice(ev *market.Event) {
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
	for _, o := range l.Account.Open(nil, 0, m) {
		level := o.Price
		if o.Type.HasTrigger() && !o.Triggered {
			level = o.TriggerAmount
		}
		q := l.queries[o.ID]
		if q == nil || q.wait <= firstWait {
			continue
		}
		if level != 0 && low <= level && level <= high || passed(o, level, low, high) {
			q.soon(l.now)
		}
	}
}

// passed reports whether the market stands beyond a resting limit.
func passed(o *market.Order, level, low, high market.Price) bool {
	if o.Type.HasTrigger() && !o.Triggered || level == 0 {
		return false
	}
	return o.Side == market.Buy && low != 0 && low <= level || o.Side == market.Sell && high >= level
}

// lowest is the smaller of two prices; 0 is no price.
func lowest(a, b market.Price) market.Price {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// askDue queries the orders whose time has come, and asks for the lists that are due.
func (l *Loop) askDue(work context.Context) {
	for _, id := range slices.Sorted(maps.Keys(l.queries)) {
		q := l.queries[id]
		switch {
		case l.asking >= inFlight || q.asking || q.next > l.now:
		case l.ownOf(q) == nil:
			delete(l.queries, id)
		case q.short != nil:
			l.askTrades(work, q)
		case q.lists:
			l.askLists(work, q)
		default:
			l.askOrder(work, q)
		}
	}
	l.askRegular(work)
	l.renew(work)
}

// askOrder asks the exchange for one order.
func (l *Loop) askOrder(work context.Context, q *query) {
	own := l.ownOf(q)
	id, client, name := own.Market, own.ClientOrderID, own.ExchangeID
	question := l.Trading.Order
	if l.stopped || own.InFlight == market.CommandCancel || own.CancelWanted {
		question = l.Trading.Ending
	}
	r := reply{from: fromQuery, asked: l.now, trusted: q.trusted}
	q.asking = true
	l.asking++
	l.workers.Go(func() {
		record, err := question(work, id, client, name)
		l.replies <- func() {
			l.asking--
			q.asking = false
			q.next, q.wait = l.stamp().Add(q.wait), min(2*q.wait, lastWait)
			r.record, r.err = &record, err
			l.receive(q, &r)
		}
	})
}
