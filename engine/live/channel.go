package live

import (
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// The pauses while the account channel is up: an event comes before the question is due.
const (
	upFirst   = 10 * time.Second // to the first query of an order whose place has an answer
	upReached = 10 * time.Second // to the query of an order whose price the market has reached
)

// longestPause is the longest time between two queries of an order. A write without an answer, and
// a fee that is still to come, are asked for as often as without the channel.
func (c *channel) longestPause(q *query) market.Duration {
	if own := q.own(c.Account); c.up && q.unresolved == nil && own != nil && !own.State.Terminal() {
		return c.QuietEvery
	}
	return lastWait
}

// pace is the time between two regular queries, which are rarer while the account channel is up.
func (c *channel) pace(every market.Duration) market.Duration {
	if c.up {
		return max(every, c.QuietEvery)
	}
	return every
}

// rise begins to trust the account channel. What happened before at, no event tells: the state
// is asked for as at a start, the list of all orders at most twice in its usual time.
func (c *channel) rise(at market.Time) {
	c.up = !c.mute
	clear(c.owed)
	c.Log.Info().Msg("the account channel is up: the state is asked for")
	c.queryAll()
	if c.open.evidence.asked < at {
		c.open.next = max(c.now, c.open.evidence.asked.Add(c.OpenEvery/2))
	}
	c.holdings.next = c.now
}

// fall goes back to asking.
func (c *channel) fall() {
	if clear(c.owed); !c.up {
		return
	}
	c.up = false
	c.Log.Warn().Msg("the account channel is down: orders are asked for")
	c.queryAll()
	c.open.next = min(c.open.next, c.now.Add(c.OpenEvery))
	c.holdings.next = min(c.holdings.next, c.now.Add(c.HoldingsEvery))
}

// queryAll queries each order that expects something.
func (c *channel) queryAll() {
	for _, o := range c.Account.Pending(nil) {
		c.loop.queryOf(o.ID).soon(c.now)
	}
}

// owes notes that an event has to come: an answer tells that an order was taken, changed, filled or
// ended, and no event has told it yet. Call it before the answer is folded.
func (c *channel) owes(q *query, r *reply, do effect) {
	if !c.up || r.from == fromNotice || r.record == nil {
		return
	}
	own, got := c.Account.Known(q.id), &r.record.Order
	switch {
	case do != fold && do != foldPlaced && do != foldUpdated && do != foldRefused, own == nil:
		return
	case own.Reported && do != foldUpdated && got.FilledAmount <= own.FilledAmount &&
		(!got.Done() || own.State.Terminal()):
		return
	}
	if d := q.doubted; d != nil && d.order && d.updated >= got.Updated && d.filled >= got.FilledAmount {
		return // the event has come
	}
	c.owed[got.ExchangeID] = owed{updated: got.Updated, filled: got.FilledAmount, ended: got.Done(),
		until: c.now.Add(muteAfter)}
}

// pays reports whether an event is the one that had to come.
func (o *owed) pays(with *market.Order) bool {
	return with.Updated >= o.updated || with.FilledAmount >= o.filled && with.Done() == o.ended
}

// checkOwed stops to trust a channel of which an event has not come in time.
func (c *channel) checkOwed() {
	for name, o := range c.owed {
		if o.until > c.now {
			continue
		}
		c.Log.Warn().Stringer("exchange_id", name).Stringer("updated", o.updated).Stringer("waited", muteAfter).
			Msg("the account channel has not told of a change of an order: it is connected anew")
		c.mute = true
		c.fall()
		if c.Muted != nil && c.now.Sub(c.asked) >= lastWait {
			c.asked = c.now
			c.Muted()
		}
		return
	}
}

// readNotice reads an event that is true of the own order. An end that was not asked for counts as
// none: the order is queried, and counts against every limit until then. An event shows an update
// that has no answer yet where it is newer than what is known, and tells of an update, or shows
// values that the order did not have.
func (l *Loop) readNotice(q *query, now resolution, own *state.Order, r *reply) answer {
	got, changed := &r.record.Order, false
	if unasked(now, own, got) {
		q.doubt(&doubt{told: r.asked, updated: got.Updated, filled: got.FilledAmount, ended: true, order: true},
			l.now)
		return noticeRefuted
	}
	if own != nil && later(got, &own.Order) {
		switch now {
		case updateInFlight:
			if o := l.writes[q.id]; o != nil {
				changed = r.tells(&own.Order, &o.command)
			}
		case updateUnresolved:
			changed = r.tells(&own.Order, &q.unresolved.command)
		case oldUpdateUnresolved:
			changed = r.exec == market.ExecUpdated
		}
	}
	switch done := got.Done(); {
	case changed && done:
		return noticedChangedEnded
	case changed:
		return noticedChanged
	case done:
		return noticedEnded
	}
	return noticedOpen
}

// tells reports whether an event shows an order as an update has made it.
func (r *reply) tells(before *market.Order, c *market.Command) bool {
	return shows(&r.record.Order, c) && (r.exec == market.ExecUpdated || !shows(before, c))
}

// prove notes that an event, or the answer to a query, tells the outcome of the write in flight
// before the write's own answer does.
func (l *Loop) prove(id market.OrderID, r *reply, do effect) {
	if o := l.writes[id]; o != nil && r.from != fromSend && (do == foldPlaced || do == foldUpdated) {
		o.provedBy = r.from
		delete(l.writes, id)
	}
}

// overtaken receives the answer to a write whose outcome an event or a query has told before: it is
// one more record of the order, from the time when the write left. A refusal over a socket was
// false where a query has found its order.
func (l *Loop) overtaken(q *query, own *state.Order, r *reply) {
	defer l.follow(q.id)
	switch exchange.OutcomeOf(r.err) {
	case exchange.Accepted:
		if own == nil || own.Reported && !later(&r.record.Order, &own.Order) && len(own.Fresh(r.record.Fills)) == 0 {
			return
		}
		if r.record.BySocket { // it proves nothing
			q.soon(l.now)
			return
		}
		asked, _ := market.TimeOfMillis(r.write.intent.Timestamp)
		l.receive(q, &reply{from: fromQuery, asked: asked, record: r.record})
	case exchange.Rejected:
		l.Log.Error().Err(r.err).Int64("order", int64(q.id)).Stringer("command", r.write.command.Kind).
			Msg("the exchange refuses a command that it has shown carried out: the order is queried")
		l.ReconcileLog.Note(l.stamp(), "refused and carried out", orderText(q.id))
		q.soon(l.now)
		if r.record.BySocket && r.write.provedBy == fromQuery {
			l.channel.contradict(q.id, r.write.strategy)
		}
	default:
		q.soon(l.now)
	}
}
