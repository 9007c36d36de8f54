package live

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// The waits of the account channel.
const (
	pairWait  = 250 * time.Millisecond // of an event for its partner; then the order is queried
	muteAfter = 5 * time.Second        // from an answer that an event has to tell of to the event
)

// channel is what the loop keeps of the exchange's account channel. Its events race the answers of
// the exchange: they are ordered by (updated, filledAmount, status), never by their arrival.
type channel struct {
	up           bool           // its events are trusted to come: lists and queries are rarer
	mute         bool           // an event has not come that had to; up again with the next event
	contradicted contradictions // of its events by the answers of the exchange
	pairs        map[market.OrderID]*pair
	owed         map[uuid.UUID]owed           // by the exchange's id of an order
	writes       map[market.OrderID]*outgoing // in flight, where their outcome is not known yet
	asked        market.Time                  // when the channel was last asked to begin anew
}

// pair is the events of one order that wait for each other: the latest order event, and fills.
type pair struct {
	since market.Time // the arrival of the first that waits
	order *exchange.Notice
	fills []market.Fill
}

// owed is an event that has to come, because an answer of the exchange has told of its cause.
type owed struct {
	updated market.Time // this and the next two: the order by the answer
	filled  market.Qty
	ended   bool
	until   market.Time
}

// onNotice receives an event of the account channel.
func (l *Loop) onNotice(n *exchange.Notice) {
	if l.failed != nil {
		return
	}
	l.stamp()
	switch n.Kind {
	case exchange.NoticeUp:
		l.channelUp(n.At)
	case exchange.NoticeDown:
		l.channelDown()
	case exchange.NoticeOrder:
		l.heard(n)
		l.noticeOrder(n)
	case exchange.NoticeFill:
		l.heard(n)
		l.noticeFill(n)
	}
}

// heard notes that the channel speaks.
func (l *Loop) heard(n *exchange.Notice) {
	c := &l.channel
	if c.mute && !c.contradicted.aside(l.now) {
		c.mute, c.up = false, true
		l.Log.Info().Msg("the account channel speaks again")
	}
	if o, owed := c.owed[n.Order.ExchangeID]; owed && o.pays(&n.Order) {
		delete(c.owed, n.Order.ExchangeID)
	}
}

// noticed is the query of the order that an event is about, which the exchange has therefore; nil:
// it is no order of the account. A question that was put before the event says nothing about it.
func (l *Loop) noticed(m market.ID, name, client uuid.UUID, at market.Time) (*query, *state.Order) {
	own := l.Account.Named(m, name, client)
	if own == nil {
		return nil, nil
	}
	q := l.queryOf(own.ID)
	q.noticed, q.notFoundSince, q.lists = max(q.noticed, at), 0, false
	return q, own
}

// noticeOrder receives an order event.
func (l *Loop) noticeOrder(n *exchange.Notice) {
	q, own := l.noticed(n.Order.Market, n.Order.ExchangeID, n.Order.ClientOrderID, n.At)
	if own == nil {
		l.noticeEnded(n)
		return
	}
	if l.channel.contradicted.aside(l.now) {
		if unasked(l.outcomeOf(q, own), own, &n.Order) {
			q.doubt(&n.Order, n.At)
		}
		q.soon(l.now) // an event only says that there is something to ask for
		return
	}
	if n.Order.Status == market.StatusUnresolved {
		q.soon(l.now) // a status of no known name proves neither that the order rests nor that it has ended
		return
	}
	p := l.pairOf(own.ID)
	latest := &own.Order
	if p.order != nil {
		latest = &p.order.Order
	}
	switch reported := own.Reported || p.order != nil; {
	case !reported || later(&n.Order, latest):
		p.order = n
	case !later(latest, &n.Order) && differ(&n.Order, latest):
		q.soon(l.now) // two states of one moment: the exchange says which came last
	}
	l.match(q, own, p)
}

// noticeFill receives a fill event.
func (l *Loop) noticeFill(n *exchange.Notice) {
	t := &n.Trade
	q, own := l.noticed(t.Market, t.ExchangeID, t.ClientOrderID, n.At)
	if own == nil {
		if l.auditor.owners.of[fillName{t.Market, t.ID}] == 0 {
			l.filledAfterEnd(t, false)
		}
		return
	}
	if broken := nameBroken(&own.Order, t.ExchangeID); broken != nil {
		l.breach(own, broken)
		q.soon(l.now)
		return
	}
	if l.channel.contradicted.aside(l.now) {
		q.soon(l.now)
		return
	}
	p := l.pairOf(own.ID)
	if at := slices.IndexFunc(p.fills, func(f market.Fill) bool { return f.ID == t.ID }); at < 0 {
		p.fills = append(p.fills, t.Fill)
	} else if t.Settled {
		p.fills[at] = t.Fill
	}
	l.match(q, own, p)
}

// noticeEnded handles an event about an order of which the account expects nothing: one that shows
// an own order open after its end, and is newer than that end, leads to a list. The others are old,
// or foreign.
func (l *Loop) noticeEnded(n *exchange.Notice) {
	if l.Ended == nil || n.Order.Done() || n.Order.ClientOrderID == uuid.Nil {
		return
	}
	if own := l.Ended(n.Order.ClientOrderID); own != nil && later(&n.Order, &own.Order) {
		l.open.next = l.now
	}
}

// later reports whether x shows an order later than y does.
func later(x, y *market.Order) bool {
	switch {
	case x.Updated != y.Updated:
		return x.Updated > y.Updated
	case x.FilledAmount != y.FilledAmount:
		return x.FilledAmount > y.FilledAmount
	}
	return x.Status.Terminal() && x.Status > y.Status
}

// differ reports whether two states of one order have other terms.
func differ(x, y *market.Order) bool {
	return x.Status != y.Status || x.Amount != y.Amount || x.AmountQuote != y.AmountQuote ||
		x.Type.HasPrice() && x.Price != y.Price || x.Type.HasTrigger() && x.TriggerAmount != y.TriggerAmount
}

// pairOf is the pair of an order.
func (l *Loop) pairOf(id market.OrderID) *pair {
	p := l.channel.pairs[id]
	if p == nil {
		p = &pair{since: l.now}
		l.channel.pairs[id] = p
	}
	return p
}

// match folds the events of an order once they are complete: what the order has filled is the sum
// of the booked fills and those that came. Events without news are dropped.
func (l *Loop) match(q *query, own *state.Order, p *pair) {
	if p.order != nil && own.Reported && !later(&p.order.Order, &own.Order) {
		p.order = nil // an answer of the exchange came first
	}
	p.fills = own.Fresh(p.fills)
	filled, sum := own.FilledAmount, own.Booked()
	if p.order != nil {
		filled = p.order.Order.FilledAmount
	}
	for i := range p.fills {
		if !own.Knows(&p.fills[i]) {
			sum += p.fills[i].Amount
		}
	}
	news := p.order != nil || len(p.fills) > 0
	if news && (filled != sum || p.order == nil && !own.Reported) {
		return
	}
	delete(l.channel.pairs, own.ID)
	slices.SortFunc(p.fills, func(x, y market.Fill) int {
		return cmp.Or(cmp.Compare(x.Time, y.Time), bytes.Compare(x.ID[:], y.ID[:]))
	})
	switch {
	case p.order != nil:
		l.receive(q, p.reply(own, q.noticed))
		if own := l.Account.Known(q.id); own != nil && own.State.Terminal() { // a fee is still to come
			q.at(min(q.next, l.now.Add(firstWait)))
			q.wait = 2 * firstWait
		}
	case news:
		r := reply{from: fromTrades, asked: q.noticed}
		for i := range p.fills {
			r.trades = append(r.trades, exchange.Trade{Fill: p.fills[i]})
		}
		l.receive(q, &r)
	}
}

// reply is a pair as an answer. The event has no feePaid: it is that of the fills.
func (p *pair) reply(own *state.Order, at market.Time) *reply {
	record := exchange.Record{Order: p.order.Order, Fills: p.fills}
	fees := own.FeePaid
	for i := range p.fills {
		if p.fills[i].Settled {
			if sum, err := fees.Add(p.fills[i].Fee); err == nil { // an overflow breaks the rules of feePaid
				fees = sum
			}
		}
	}
	record.Order.FeePaid = fees
	return &reply{from: fromNotice, asked: at, record: &record, exec: p.order.Exec}
}

// matchAll looks at the pairs again: an answer may have told the rest, or their time may be over.
func (l *Loop) matchAll() {
	if len(l.channel.pairs)+len(l.channel.owed) == 0 {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(l.channel.pairs)) {
		p, q, own := l.channel.pairs[id], l.queries.of[id], l.Account.Known(id)
		if own == nil || q == nil {
			delete(l.channel.pairs, id)
			continue
		}
		if l.match(q, own, p); l.channel.pairs[id] == p && l.now.Sub(p.since) >= pairWait {
			delete(l.channel.pairs, id)
			q.soon(l.now)
		}
	}
	l.checkOwed()
}

// newChannel is a channel that is not up.
func newChannel() channel {
	return channel{pairs: map[market.OrderID]*pair{}, owed: map[uuid.UUID]owed{},
		writes: map[market.OrderID]*outgoing{}}
}

// next is when the first pair has waited long enough.
func (c *channel) next() market.Time {
	next := market.Time(math.MaxInt64)
	for _, p := range c.pairs {
		next = min(next, p.since.Add(pairWait))
	}
	return next
}
