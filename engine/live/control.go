package live

import (
	"context"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Do runs f in the loop's goroutine, between two events, and waits for it: f may read engine and
// account, and returns commands of the engine (HaltAll, CancelAll …) that the loop then sends. Do
// returns before they are sent; the next Do or Look returns after they have been committed. While
// the loop reconciles with the exchange, Do waits; a loop that is stopping returns ErrStopping.
func (l *Loop) Do(ctx context.Context, f func(at market.Time) []market.Command) error {
	return l.onLoop(ctx, func() error {
		if l.stopped {
			return ErrStopping
		}
		l.queueCommands(f(l.engineTime()))
		return nil
	})
}

// Inspect runs f as Do does, also in a loop that is stopping. f changes nothing.
func (l *Loop) Inspect(ctx context.Context, f func(at market.Time)) error {
	return l.onLoop(ctx, func() error {
		f(l.stamp())
		return nil
	})
}

// End ends the loop for a reason that Run returns: all strategies are halted, all orders are
// cancelled except the exits of brackets, even where orders are to be kept, and then the loop ends.
// It returns once the loop has begun to do so.
func (l *Loop) End(ctx context.Context, why error) error {
	return l.onLoop(ctx, func() error {
		if l.ending.why == nil {
			l.ending.why = fmt.Errorf("live: nothing more is traded: %w", why)
		}
		if !l.stopped {
			l.halt(0, why.Error())
		}
		return nil
	})
}

// onLoop runs a function in the loop's goroutine and waits for it.
func (l *Loop) onLoop(ctx context.Context, run func() error) error {
	done := make(chan error, 1)
	select {
	case l.calls <- func() { done <- run() }:
		return <-done // the loop has taken it and will answer
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stopping reports whether the loop is stopping. Call it within Look.
func (l *Loop) Stopping() bool { return l.stopped }

// Foreign is the number of the account's open orders that are not this bot's, by the last list.
// Call it within Do.
func (l *Loop) Foreign() int { return l.open.foreign }
