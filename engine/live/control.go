package live

import (
	"context"

	"github.com/tidemark-trading/tidemark/market"
)

// request is something that another goroutine wants of the loop.
type request struct {
	run func()
}

// Do runs f in the loop's goroutine, between two events, and waits for it: f may read engine and account, and returns commands of the
// engine (HaltAll, CancelAll …) that the loop then sends. Do returns before they are sent.
func (l *Loop) Do(ctx context.Context, f func(at market.Time) []market.Command) error {
	done := make(chan error, 1)
	r := request{run: func() {
		if l.stopped {
			done <- errStopped
			return
		}
		l.take(f(l.stamp()))
		done <- nil
	}}
	select {
	case l.orders <- r:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Foreign is how many open orders of the account are not this bot's, as far as the last list told. Call it within Do.
func (l *Loop) Foreign() int { return l.foreign }
