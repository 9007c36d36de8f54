package live

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// stop ends in good order: strategies are told, orders are cancelled, or kept with their timers stopped, and every answer is waited for.
func (l *Loop) stop(work context.Context) error {
	ctx, cancel := context.WithTimeout(work, l.StopWithin)
	defer cancel()
	l.take(l.Engine.Stop(l.stamp()))
	l.stopped = true
	l.endTurn(work)
	if l.KeepOrders {
		if err := l.disarm(ctx); err != nil {
			return err
		}
	}
	next := l.now // at once, whatever is in flight, then again where a cancel was lost, or refused before it is known why
	for l.failed == nil && !l.finished() && ctx.Err() == nil {
		if !l.KeepOrders && next <= l.now {
			next = l.now.Add(firstWait)
			l.take(l.Engine.CancelAll(l.stamp()))
			l.endTurn(work)
		}
		l.turn(ctx, work)
	}
	if l.failed != nil {
		return l.failed
	}
	if left := l.Account.Open(nil, 0, 0); len(left) > 0 && !l.KeepOrders {
		return fmt.Errorf("live: %d orders are still open after %s: %s", len(left), time.Duration(l.StopWithin), namesOf(left))
	}
	return nil
}

// finished reports whether nothing is left to wait for.
func (l *Loop) finished() bool {
	return l.quiet() && (l.KeepOrders || len(l.Account.Open(nil, 0, 0)) == 0)
}

// namesOf lists orders for a person.
func namesOf(orders []*market.Order) (text string) {
	for i, o := range orders {
		if i > 0 {
			text += ", "
		}
		text += o.ClientOrderID.String()
	}
	return text
}
