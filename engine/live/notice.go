package live

import (
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// muteAfter is the wait of the account channel from an answer that an event has to tell of to the
// event.
const muteAfter = 5 * time.Second

// channel is the exchange's account channel. Its events move no money, and it is trusted only while
// they come. They race the answers of the exchange: they are ordered by (updated, filledAmount,
// status), never by their arrival.
type channel struct {
	base
	index        *index
	auditor      *auditor
	open         *openList
	holdings     *holdings
	up           bool               // its events are trusted to come: lists and queries are rarer
	mute         bool               // an event has not come that had to; up again with the next event
	contradicted contradictions     // of its events by the answers of the exchange
	owed         map[uuid.UUID]owed // by the exchange's id of an order
	asked        market.Time        // when the channel was last asked to begin anew
}

// owed is an event that has to come, because an answer of the exchange has told of its cause.
type owed struct {
	updated market.Time // this and the next two: the order by the answer
	filled  market.Qty
	ended   bool
	until   market.Time
}

// receive receives an event of the account channel.
func (c *channel) receive(n *exchange.Notice) {
	c.stamp()
	switch n.Kind {
	case exchange.NoticeUp:
		c.rise(n.At)
	case exchange.NoticeDown:
		c.fall()
	case exchange.NoticeOrder:
		c.heard(n)
		c.noticeOrder(n)
	case exchange.NoticeFill:
		c.heard(n)
		c.noticeFill(n)
	}
}

// heard notes that the channel speaks.
func (c *channel) heard(n *exchange.Notice) {
	if c.mute && !c.contradicted.aside(c.now) {
		c.mute, c.up = false, true
		c.Log.Info().Msg("the account channel speaks again")
	}
	if o, owed := c.owed[n.Order.ExchangeID]; owed && o.pays(&n.Order) {
		delete(c.owed, n.Order.ExchangeID)
	}
}

// noticed is the query of the order that an event is about, which the exchange has therefore; nil:
// it is no order of the account. A question that was put before the event says nothing about it.
func (c *channel) noticed(m market.ID, name, client uuid.UUID, at market.Time) (*query, *state.Order) {
	own := c.index.orderNamed(m, name, client)
	if own == nil {
		return nil, nil
	}
	q := c.loop.queryOf(own.ID)
	q.noticed, q.notFoundSince, q.lists = max(q.noticed, at), 0, false
	return q, own
}

// noticeOrder receives an order event.
func (c *channel) noticeOrder(n *exchange.Notice) {
	q, own := c.noticed(n.Order.Market, n.Order.ExchangeID, n.Order.ClientOrderID, n.At)
	got := &n.Order
	if own == nil {
		// An event that shows an own order open after its end, and is newer than that end, leads to
		// a list. The others are old, or foreign.
		if c.Ended != nil && !got.Done() && got.ClientOrderID != uuid.Nil {
			if own = c.Ended(got.ClientOrderID); own != nil && later(got, &own.Order) {
				c.open.next = c.now
			}
		}
		return
	}
	switch aside := c.contradicted.aside(c.now); {
	case filledMore(own, got), aside && unasked(q.outcome(own), own, got):
		q.doubt(&doubt{told: n.At, updated: got.Updated, filled: got.FilledAmount, ended: got.Done(), order: true},
			c.now)
	case aside, q.refusal != nil, got.Status == market.StatusUnresolved:
		// a status of no known name proves neither that the order rests nor that it has ended
		q.soon(c.now)
	case !own.Reported || later(got, &own.Order):
		record := exchange.WireOrder{Order: *got}
		record.Order.FeePaid = own.FeePaid // an event has none
		c.loop.receive(q, &reply{from: fromNotice, asked: q.noticed, record: &record, exec: n.Exec})
	case !later(&own.Order, got) && differ(got, &own.Order):
		q.soon(c.now) // two states of one moment: the exchange says which came last
	}
}

// noticeFill receives a fill event.
func (c *channel) noticeFill(n *exchange.Notice) {
	t := &n.Trade
	q, own := c.noticed(t.Market, t.ExchangeID, t.ClientOrderID, n.At)
	if own == nil {
		if c.auditor.owners.of[fillName{t.Market, t.ID}] == 0 {
			c.open.filledAfterEnd(t, false)
		}
		return
	}
	if broken := nameBroken(&own.Order, t.ExchangeID); broken != nil {
		c.auditor.breach(own, broken)
		q.soon(c.now)
		return
	}
	if fresh := own.Fresh([]market.Fill{t.Fill}); len(fresh) == 0 {
		return
	}
	d := doubt{told: n.At, updated: t.Time, filled: own.BookedAmount()}
	if !own.Knows(&t.Fill) {
		d.filled += t.Amount
	}
	q.doubt(&d, c.now)
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
