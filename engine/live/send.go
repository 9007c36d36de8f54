package live

import (
	"context"
	"errors"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// outgoing is an intent that is durable, or will be at the end of the turn, with the command that it stands for.
type outgoing struct {
	intent  exchange.Intent
	command market.Command
}

// rank is the order in which intents leave: what frees comes first, then what protects.
func (o *outgoing) rank() int {
	switch {
	case o.command.Kind == market.CommandCancel:
		return 0
	case o.command.Attached:
		return 1
	}
	return 2
}

// dispatch lets intents go, best rank first and the older first within a rank, as many at a time as there may be in flight.
func (l *Loop) dispatch(work context.Context) {
	for l.sending < inFlight && len(l.outbox) > 0 {
		first := 0
		for i := range l.outbox {
			if l.outbox[i].rank() < l.outbox[first].rank() {
				first = i
			}
		}
		o := l.outbox[first]
		l.outbox = append(l.outbox[:first], l.outbox[first+1:]...)
		l.sending++
		l.Journal.Sent(l.now, &o.intent)
		l.workers.Go(func() {
			record, err := l.Trading.Send(work, &o.intent)
			l.replies <- func() {
				l.sending--
				l.answered(&o, record, err)
			}
		})
	}
}

// answered deals with what came back. An accepted cancel says nothing of what the order had come to: that is asked for.
func (l *Loop) answered(o *outgoing, record exchange.Record, err error) {
	l.Journal.Outcome(l.stamp(), &o.intent, err)
	k := l.lookAt(o.command.Order.ID)
	k.doubt = nil // an order has one write in flight at a time
	k.unsent = k.unsent && errors.Is(err, exchange.ErrNotSent)
	switch exchange.OutcomeOf(err) {
	case exchange.Accepted:
		if o.command.Kind == market.CommandCancel {
			k.doubt = l.doubtOf(o)
			k.soon(l.now)
			return
		}
		l.report(o.command.Order.ID, &record, execOf(o.command.Kind))
	case exchange.Rejected:
		code := codeOf(err)
		l.sayRefused(o, k, err)
		l.answer(&o.command, market.ExecRejected, code)
		if code == exchange.CodeNotFound {
			k.soon(l.now) // it has ended, and we have not heard how
		}
		l.follow(k.id)
	default:
		l.Log.Warn().Err(err).Stringer("command", o.command.Kind).Int64("order", int64(o.command.Order.ID)).Msg("nobody knows what became of a command: asking")
		k.doubt = l.doubtOf(o)
		k.soon(l.now)
		l.answer(&o.command, market.ExecUnknown, 0)
	}
	l.heedKey(o.command.Kind, err)
}

// sayRefused lets the log tell of a command that was refused, or could not be sent. What it has told of an order is not told again and again,
// as while a stop tries to cancel at an exchange that nobody can reach.
func (l *Loop) sayRefused(o *outgoing, k *look, err error) {
	line, said, told := l.Log.Warn(), "the exchange refused a command", false
	switch {
	case errors.Is(err, exchange.ErrNotSent):
		said, told, k.unsent = "a command could not be sent", k.unsent, true
	case codeOf(err) == exchange.CodeNotFound && o.command.Kind != market.CommandPlace:
		line, said, told = l.Log.Info(), "an order had ended before a command came to it", k.unfound != 0
	}
	if told {
		line = l.Log.Debug()
	}
	line.Err(err).Stringer("command", o.command.Kind).Int64("order", int64(o.command.Order.ID)).Msg(said)
}

// execOf is what an accepted command reports.
func execOf(kind market.CommandKind) market.ExecutionType {
	if kind == market.CommandUpdate {
		return market.ExecUpdated
	}
	return market.ExecNew
}

// codeOf is the exchange's code in an error, 0 where it has none.
func codeOf(err error) int {
	var refusal *exchange.Error
	if as(err, &refusal) {
		return refusal.Code
	}
	return 0
}

// report steps the engine with an order's record.
func (l *Loop) report(id market.OrderID, record *exchange.Record, exec market.ExecutionType) {
	order := record.Order
	order.ID = id
	if own := l.Account.Known(id); own != nil { // also one that has ended and waits for a fee
		order.Strategy = own.Strategy
	}
	for i := range record.Fills {
		f := &record.Fills[i]
		f.Order, f.Market, f.Strategy, f.Side = id, order.Market, order.Strategy, order.Side
	}
	r := market.ReportOf(&order, exec)
	if own := l.Account.Known(id); own != nil {
		if exec == market.ExecTrade && own.Shows(&r, record.Fills) {
			l.follow(id) // an order that rests is asked for again and again: neither strategies nor the journal need to hear of it
			return
		}
		record.Fills = own.Fresh(record.Fills)
	}
	l.step(&market.Event{Kind: market.KindReport, Market: order.Market, Report: &r, Fills: record.Fills})
	l.follow(id)
}
