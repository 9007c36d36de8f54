package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// dispatch sends intents, best rank first, up to maxInFlight of each rank.
func (l *Loop) dispatch(work context.Context) {
	for r := range ranks {
		for l.sending[r] < maxInFlight {
			o := l.outbox.next(r)
			if o == nil {
				break
			}
			l.send(work, r, o)
		}
	}
}

func (l *Loop) send(work context.Context, r rank, o *outgoing) {
	l.sending[r]++
	l.writes[o.command.Order.ID] = o
	q := l.queryOf(o.command.Order.ID) // it may tell more than an answer that does not come
	if o.command.Kind == market.CommandPlace {
		q.at(min(q.next, l.now.Add(firstWait))) // until the answer comes, also while the account channel is up
	}
	l.Journal.Sent(l.now, &o.intent)
	l.ask(func() func() {
		record, err := l.Trading.Send(work, &o.intent)
		return func() {
			l.sending[r]--
			l.answered(o, record, err)
		}
	})
}

// dropUnwanted ends the waiting writes whose order is to end: a halt, a stop or a cancel came
// first. The account sees them as refused by the exchange.
func (l *Loop) dropUnwanted() {
	l.index.follow()
	for _, o := range l.outbox.takeBack(l.unwantedWrite) {
		l.Journal.Outcome(l.now, &o.intent, fmt.Errorf("%w: taken back, because the order is to end",
			exchange.ErrNotSent))
		l.answer(&o.command, market.ExecRejected, 0)
		l.follow(o.command.Order.ID)
	}
}

// unwantedWrite reports whether the order of a write is to end.
func (l *Loop) unwantedWrite(o *outgoing) bool {
	own := l.Account.Own(o.command.Order.ID)
	return own == nil || own.CancelWanted
}

// Waiting is the number of a strategy's writes that wait for a lane to the exchange. Call it within
// Inspect.
func (l *Loop) Waiting(s market.StrategyID) int { return l.outbox.waits(s) }

// Waits reports whether a write of an order waits for a lane to the exchange. Call it within Look.
func (l *Loop) Waits(id market.OrderID) bool { return l.outbox.holds(id) }

// answered receives the answer to a write.
func (l *Loop) answered(o *outgoing, record exchange.WireOrder, err error) {
	l.Journal.Outcome(l.stamp(), &o.intent, err)
	if l.writes[o.command.Order.ID] == o {
		delete(l.writes, o.command.Order.ID)
	}
	q := l.queryOf(o.command.Order.ID)
	q.unsent = q.unsent && errors.Is(err, exchange.ErrNotSent)
	if l.channel.up && o.command.Kind == market.CommandPlace && err == nil { // events tell of it from now on
		q.at(max(q.next, l.now.Add(upFirst)))
	}
	l.receive(q, &reply{from: fromSend, asked: l.now, record: &record, err: err, write: o})
	l.countKeyRefusals(o.command.Kind, err)
	if o.command.Order.Side == market.Sell && errors.Is(err, exchange.ErrCode(exchange.CodeInsufficientBalance)) {
		l.holdings.doubted = true // the base may have left the account
	}
}

// maxKeyRefusals is how many commands in a row the exchange may refuse because of the key. A
// revoked key stays refused, and further requests earn a ban.
const maxKeyRefusals = 5

// countKeyRefusals halts all strategies when the exchange refuses the key again and again. Cancels
// do not count: a halt causes some.
func (l *Loop) countKeyRefusals(kind market.CommandKind, err error) {
	var no *exchange.Error
	switch {
	case exchange.OutcomeOf(err) == exchange.Unknown || kind == market.CommandCancel:
	case !as(err, &no) || !no.OfKey():
		l.keyRefused = 0
	default:
		if l.keyRefused++; l.keyRefused < maxKeyRefusals {
			return
		}
		l.keyRefused = 0
		l.Log.Error().Err(err).Msg("the exchange refuses the key: all strategies are halted")
		l.ReconcileLog.Note(l.stamp(), "key refused", err.Error())
		l.halt(0, "the exchange refuses the key: "+err.Error())
	}
}
