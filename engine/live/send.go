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

// answered receives what came back.
func (l *Loop) answered(o *outgoing, record exchange.Record, err error) {
	l.Journal.Outcome(l.stamp(), &o.intent, err)
	q := l.queryOf(o.command.Order.ID)
	q.unsent = q.unsent && errors.Is(err, exchange.ErrNotSent)
	l.receive(q, &reply{from: fromSend, asked: l.now, record: &record, err: err, write: o})
	l.heedKey(o.command.Kind, err)
}
