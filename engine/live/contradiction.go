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

// doubted is the end that an event told of and that the order's query has not confirmed yet.
type doubted struct {
	told    market.Time // 0: there is none
	updated market.Time // the order by the event
}

// unasked reports whether an event tells of an end that neither a command nor the terms of the
// order ask for: a limit or a trigger that rests ends by a cancel of this bot, or by its fills.
func unasked(now outcome, own *state.Order, got *market.Order) bool {
	if own == nil || !got.Done() || got.Status == market.StatusFilled {
		return false
	}
	switch now {
	case cancelInFlight, cancelUnresolved, ended, endedListed, endedCancelling:
		return false
	}
	return own.Type.HasTrigger() && !own.Triggered || own.Type.HasPrice() && own.TimeInForce == market.GTC
}

// doubt notes the end that an event tells of.
func (q *query) doubt(got *market.Order, at market.Time) {
	if q.doubted.told == 0 {
		q.doubted = doubted{told: at, updated: got.Updated}
	}
}

// contradict compares the answer to a query with the end that an event has told of.
func (l *Loop) contradict(q *query, own *state.Order, r *reply) {
	d := q.doubted
	if d.told == 0 || own == nil || r.from != fromQuery || r.err != nil || r.asked < d.told {
		return
	}
	got := &r.record.Order
	if !got.Done() && got.Updated < d.updated && r.asked.Sub(d.told) < oldCopy {
		return
	}
	q.doubted = doubted{}
	if got.Done() {
		return
	}
	c := &l.channel
	c.contradicted = append(c.contradicted, l.now)
	c.contradicted = slices.DeleteFunc(c.contradicted,
		func(at market.Time) bool { return l.now.Sub(at) >= falseWithin })
	c.mute = true
	clear(c.pairs)
	l.channelDown()
	l.Log.Error().Int64("order", int64(own.ID)).Stringer("for", asideFor).
		Msg("an event of the account channel said that an order has ended, and the exchange answers that " +
			"it is open: the channel is set aside, orders are asked for")
	l.ReconcileLog.Note("the account channel told a false end", orderText(own.ID))
	if len(c.contradicted) >= falseTillHalt && own.Strategy != 0 {
		l.input(&market.Input{Kind: market.InputHalt, Strategy: own.Strategy,
			Reason: "three ends of orders within a minute that the account channel told of were false; the latest: " +
				orderText(own.ID)})
	}
}

// ChannelAside says that the account channel is set aside, and why; empty: it is not. Call it
// within Look.
func (l *Loop) ChannelAside() string {
	if !l.channel.contradicted.aside(l.now) {
		return ""
	}
	return "it told of an end of an order that the exchange denies: orders are asked for instead, for " +
		asideFor.String()
}
