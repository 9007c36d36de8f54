package live

import (
	"errors"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// carryOutStep notes the outcome of a step, changes the account and sets the time of the next
// query.
func (l *Loop) carryOutStep(q *query, r *reply, s step) {
	var command *market.Command // that the reply answers or resolves
	if r.write != nil {
		command = &r.write.command
	} else if q.unresolved != nil {
		command = &q.unresolved.command
	}
	l.channel.owes(q, r, s.do)
	l.prove(q.id, r, s.do)
	l.noteUnresolved(q, r, s.next)
	l.carryEffect(q, r, s.do, command)
	q.cancelling = s.next == endedCancelling
	if q.listed = s.next == endedListed || q.cancelling; !q.listed {
		q.ended = nil
	}
	l.follow(q.id)
	l.schedule(q, r.asked, s.then)
}

// noteUnresolved keeps the order's write while its outcome is unresolved. The account knows all
// other outcomes.
func (l *Loop) noteUnresolved(q *query, r *reply, next resolution) {
	switch next {
	case placeInFlight, updateInFlight, cancelInFlight:
	default:
		q.refusal = nil
	}
	switch next {
	case placeUnresolved, updateUnresolved, oldUpdateUnresolved, cancelUnresolved:
		if q.unresolved == nil {
			q.unresolved = l.unresolvedBy(r.write, r.asked, next)
		}
	default:
		q.unresolved = nil
	}
}

// unresolvedBy is a write that was sent and is not resolved since its answer came or failed to. Its
// signature says until when the exchange may take it.
func (l *Loop) unresolvedBy(o *outgoing, since market.Time, next resolution) *unresolved {
	until, _ := market.TimeOfMillis(o.intent.Timestamp + o.intent.Window)
	return &unresolved{outcome: next, command: o.command, since: since, until: until.Add(l.Margin)}
}

// carryEffect changes the account, or logs.
func (l *Loop) carryEffect(q *query, r *reply, do effect, c *market.Command) {
	switch do {
	case fold:
		l.report(q.id, r.record, r.execOf())
	case foldPlaced:
		l.report(q.id, r.record, market.ExecNew)
	case foldUpdated:
		l.report(q.id, r.record, market.ExecUpdated)
	case foldRefused:
		l.report(q.id, r.record, r.execOf())
		l.answer(c, market.ExecRejected, 0)
	case foldTrades:
		l.foldTrades(q.id, r.trades)
	case reportRefused:
		l.logRefused(&r.write.command, q, r.err)
		l.answer(c, market.ExecRejected, codeOf(r.err))
	case reportUnknown:
		l.Log.Warn().Err(r.err).Stringer("command", c.Kind).Int64("order", int64(q.id)).
			Msg("the outcome of a command is unknown: its order is queried")
		l.answer(c, market.ExecUnknown, 0)
	case reportNotFound:
		l.logNotFound(q, r.asked)
	case logListed:
		l.Log.Error().Int64("order", int64(q.id)).Stringer("again_in", laterWait).
			Msg("the exchange lists an order as open that it does not find by itself: it stays open here")
	case endAbsent:
		l.endAbsent(q, c)
	case endByTrades:
		l.endByTrades(q, r)
	case reportListedEnded:
		l.logListedEnded(q)
	case reopen:
		l.reopen(q, r)
	case cancelListed:
		l.cancelListed(q)
	case haltListed:
		l.haltListed(q)
	}
}

// schedule sets the time of an order's next query, and what it asks.
func (l *Loop) schedule(q *query, asked market.Time, then followUp) {
	switch then {
	case soon:
		q.soon(l.now)
	case byEnd:
		q.at(min(q.next, q.unresolved.until+1))
	case atEnd:
		q.at(max(q.next, q.unresolved.until+1))
		q.wait = firstWait
	case inSecond:
		q.in(firstWait, l.now)
	case apart:
		q.notFoundSince = asked
		q.in(placePatience, asked)
	case inFive:
		q.in(notFoundWait, l.now)
	case inMinute:
		q.wait = lastWait
	case askLists:
		q.lists, q.listsSince = true, asked
		q.soon(l.now)
	case laterList:
		q.notFoundSince = l.now.Add(laterWait - acceptedPatience)
		q.in(notFoundWait, l.now)
	case anew:
		q.notFoundSince = 0
		q.in(firstWait, l.now)
	case never:
		if own := l.Account.Own(q.id); own == nil {
			l.queries.remove(q.id)
		}
	}
}

// answer steps the engine with the answer to a command that changes nothing of the order: rejected,
// or unknown.
func (l *Loop) answer(c *market.Command, exec market.ExecutionType, code int) {
	r := market.Report{Exec: exec, Command: c.Kind, Order: c.Order.ID, Market: c.Order.Market, Code: code,
		OrderState: market.OrderState{Updated: l.now}}
	l.step(&market.Event{Kind: market.KindReport, Market: c.Order.Market, Report: &r})
}

// report steps the engine with an order's record.
func (l *Loop) report(id market.OrderID, record *exchange.WireOrder, exec market.ExecutionType) {
	order := record.Order
	order.ID = id
	if own := l.Account.Known(id); own != nil { // also of an order that has ended and waits for a fee
		order.Strategy = own.Strategy
	}
	for i := range record.Fills {
		f := &record.Fills[i]
		f.Order, f.Market, f.Strategy, f.Side = id, order.Market, order.Strategy, order.Side
	}
	r, met := market.ReportOf(&order, exec), false
	if own := l.Account.Known(id); own != nil {
		if exec == market.ExecTrade && own.Shows(&r, record.Fills) {
			// no news: a resting order is queried again and again
			return
		}
		record.Fills, met = own.Fresh(record.Fills), prevented(own, &r)
	} else {
		record.Fills = nil // what moves no position is not booked
	}
	record.Fills = l.page(id, record.Fills)
	l.step(&market.Event{Kind: market.KindReport, Market: order.Market, Report: &r, Fills: record.Fills})
	if met {
		l.queryMet(&r, order.Side)
	}
}

// foldTrades steps the engine with each of an order's trades.
func (l *Loop) foldTrades(id market.OrderID, trades []exchange.Trade) {
	own := l.Account.Known(id)
	m, strategy := own.Market, own.Strategy
	for i := range trades {
		f := trades[i].Fill
		f.Order, f.Market, f.Strategy = id, m, strategy
		l.step(&market.Event{Kind: market.KindFill, Market: m, Fills: []market.Fill{f}})
	}
}

// logRefused logs a command that was refused or could not be sent. A repeated line about one order
// is logged at debug level, as while a stop tries to cancel at an exchange that cannot be reached.
func (l *Loop) logRefused(c *market.Command, q *query, err error) {
	line, text, logged := l.Log.Warn(), "the exchange refused a command", false
	switch {
	case errors.Is(err, exchange.ErrNotSent):
		text, logged, q.unsent = "a command could not be sent", q.unsent, true
	case codeOf(err) == exchange.CodeNotFound && c.Kind != market.CommandPlace:
		line, text, logged = l.Log.Info(), "an order had ended before a command came to it", q.notFoundSince != 0
	}
	if logged {
		line = l.Log.Debug()
	}
	line.Err(err).Stringer("command", c.Kind).Int64("order", int64(c.Order.ID)).Msg(text)
}
