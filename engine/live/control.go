package live

import (
	"context"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// request is something that another goroutine wants of the loop.
type request struct {
	run func()
}

// Do runs f in the loop's goroutine, between two events, and waits for it: f may read engine and
// account, and returns commands of the engine (HaltAll, CancelAll …) that the loop then sends. Do
// returns before they are sent; the next Do or Look returns after they have been committed. While
// the loop reconciles with the exchange Do waits; a loop that stops refuses with ErrStopping.
func (l *Loop) Do(ctx context.Context, f func(at market.Time) []market.Command) error {
	return l.hand(ctx, func() error {
		if l.stopped {
			return ErrStopping
		}
		l.take(f(l.stamp()))
		return nil
	})
}

// Look runs f like Do, also in a loop that stops. f changes nothing.
func (l *Loop) Look(ctx context.Context, f func(at market.Time)) error {
	return l.hand(ctx, func() error {
		f(l.stamp())
		return nil
	})
}

// End ends the loop for a reason that Run returns: all strategies are halted, all orders are
// cancelled but the exits of brackets, also where orders are to be kept, and then the loop ends. It
// returns when the loop has taken that up.
func (l *Loop) End(ctx context.Context, why error) error {
	return l.hand(ctx, func() error {
		if l.ending == nil {
			l.ending = fmt.Errorf("live: nothing more is traded: %w", why)
		}
		if !l.stopped {
			l.take(l.Engine.HaltAll(l.stamp(), why.Error()))
		}
		return nil
	})
}

// hand gives the loop something to run and waits until it has.
func (l *Loop) hand(ctx context.Context, run func() error) error {
	done := make(chan error, 1)
	select {
	case l.orders <- request{run: func() { done <- run() }}:
		return <-done // the loop has it in hand
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stopping reports whether the loop has begun to stop. Call it within Look.
func (l *Loop) Stopping() bool { return l.stopped }

// Foreign is how many open orders of the account are not this bot's, as far as the last list told.
// Call it within Do.
func (l *Loop) Foreign() int { return l.foreign }
