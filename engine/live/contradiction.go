package live

import (
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Limits of a channel whose events the exchange's answers contradict.
const (
	asideFor      = 10 * time.Minute // from the last contradiction until the channel is trusted again
	oldCopy       = 5 * time.Second  // an answer with an older order may come from an old copy so long
	falseWithin   = time.Minute      // so many contradictions within it halt the strategy:
	falseTillHalt = 3
)

// contradictions are the latest ones, in order of time.
type contradictions []market.Time

// aside reports whether the channel is set aside: its events lead to queries, and book nothing.
func (c contradictions) aside(now market.Time) bool {
	return len(c) > 0 && now.Sub(c[len(c)-1]) < asideFor
}

// doubt is what an event, or an answer over a socket, told of an order and its query has not
// confirmed yet: fills, or an end.
type doubt struct {
	since   market.Time // the first event
	told    market.Time // the latest one
	updated market.Time // the order by it
	filled  market.Qty  // at least
	ended   bool
	order   bool // an event of the order told it, not one of a fill
}

// filledMore reports whether an event tells of fills that are not booked.
func filledMore(own *state.Order, got *market.Order) bool {
	return got.FilledAmount > own.FilledAmount || got.Status == market.StatusFilled && !own.State.Terminal()
}

// unasked reports whether an event tells of an end that neither a command nor the terms of the
// order ask for: a limit or a trigger that rests ends by a cancel of this bot, or by its fills.
func unasked(now resolution, own *state.Order, got *market.Order) bool {
	if own == nil || !got.Done() || got.Status == market.StatusFilled {
		return false
	}
	switch now {
	case cancelInFlight, cancelUnresolved, ended, endedListed, endedCancelling:
		return false
	}
	return own.Type.HasTrigger() && !own.Triggered || own.Type.HasPrice() && own.TimeInForce == market.GTC
}

// doubtsAtOnce is how many queries of an order events lead to at once; then it is one a second.
const doubtsAtOnce = 4

// mayDoubt is when an event may lead to the next query of the order.
func (q *query) mayDoubt(now market.Time) market.Time {
	return max(now, q.doubts.Add(-(doubtsAtOnce-1)*firstWait))
}

// doubt notes what an event tells, and asks for the order.
func (q *query) doubt(d *doubt, now market.Time) {
	d.since = d.told
	if was := q.doubted; was != nil {
		d.since, d.updated, d.filled = was.since, max(d.updated, was.updated), max(d.filled, was.filled)
		d.ended, d.order = d.ended || was.ended, d.order || was.order
	}
	q.doubted = d
	q.at(q.mayDoubt(now))
	q.wait = firstWait
}

// settle compares the answer to a query with what events have told.
func (c *channel) settle(q *query, strategy market.StrategyID, r *reply) {
	d := q.doubted
	if d == nil || r.from != fromQuery || r.err != nil || r.asked < d.told {
		return
	}
	got := &r.record.Order
	denied := d.ended && !got.Done() || got.FilledAmount < d.filled
	if denied && got.Updated < d.updated && r.asked.Sub(d.since) < oldCopy {
		return
	}
	q.doubted = nil
	if denied {
		c.contradict(q.id, strategy)
	}
}

// contradict sets the channel aside, because the exchange denies what it has told of an order.
func (c *channel) contradict(id market.OrderID, strategy market.StrategyID) {
	c.contradicted = append(c.contradicted, c.now)
	c.contradicted = slices.DeleteFunc(c.contradicted,
		func(at market.Time) bool { return c.now.Sub(at) >= falseWithin })
	c.mute = true
	for _, q := range c.queries.of {
		q.doubted = nil
	}
	c.fall()
	c.Log.Error().Int64("order", int64(id)).Stringer("for", asideFor).
		Msg("the stream said that an order has filled, ended or been refused, and the exchange denies it over REST: " +
			"the stream is set aside, orders are sent and asked for over REST")
	if c.SetAside != nil {
		c.SetAside(asideFor)
	}
	c.ReconcileLog.Note(c.stamp(), "the stream told a false fill or end", orderText(id))
	if len(c.contradicted) >= falseTillHalt && strategy != 0 {
		c.loop.halt(strategy,
			"three fills or ends of orders that the stream told of within a minute were false; the "+
				"latest: "+orderText(id))
	}
}

// ChannelAside says that the account channel is set aside, and why; empty: it is not. Call it
// within Look.
func (l *Loop) ChannelAside() string {
	if !l.channel.contradicted.aside(l.now) {
		return ""
	}
	return "it told of a fill or an end of an order that the exchange denies: orders go over REST, for " +
		asideFor.String()
}
