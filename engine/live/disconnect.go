package live

import (
	"context"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// disconnect keeps the timers of the cancel-on-disconnect groups armed while the loop is well
// (venue-facts 3.8): a bot that has died renews nothing, and its orders die with it.
type disconnect struct {
	off    bool // the exchange does not do it, or nothing is to be renewed any more
	armed  bool // this run has armed them
	next   market.Time
	asking bool
}

// armFirst arms the groups before the first order of any. An exchange that refuses is traded on
// without; one that cannot be reached is not.
func (l *Loop) armFirst(ctx context.Context) error {
	for _, group := range l.Groups {
		err := l.insist(ctx, func() error { return l.Trading.CancelAfter(ctx, group, l.GroupExpiry) })
		switch {
		case err == nil:
		case refuses(err):
			l.Log.Warn().Err(err).Uint16("group", group).
				Msg("the exchange refuses cancel on disconnect: orders outlive this bot")
			l.Findings.Remark("cancel on disconnect", "refused: "+err.Error())
			l.disconnect.off = true
			return nil
		default:
			return fmt.Errorf("live: arm cancel on disconnect: %w", err)
		}
	}
	l.disconnect.armed = true
	l.disconnect.next = l.stamp().Add(l.GroupExpiry / 5)
	return nil
}

// renew pushes the timers out again, every fifth of their expiry.
func (l *Loop) renew(work context.Context) {
	d := &l.disconnect
	if !d.armed || d.off || d.asking || len(l.Groups) == 0 || d.next > l.now || l.failed != nil {
		return
	}
	d.asking = true
	groups := l.Groups
	l.workers.Go(func() {
		var failed error
		for _, group := range groups {
			if err := l.Trading.CancelAfter(work, group, l.GroupExpiry); err != nil {
				failed = err
			}
		}
		l.replies <- func() {
			d.asking = false
			d.next = l.stamp().Add(l.GroupExpiry / 5)
			if failed != nil {
				d.next = l.now.Add(l.GroupExpiry / 25)
				l.Log.Warn().Err(failed).Msg("cancel on disconnect could not be renewed")
			}
		}
	})
}

// disarm stops the timers and waits for the exchange to say so: orders are to stay. Nothing is
// renewed from then on.
func (l *Loop) disarm(ctx, work context.Context) error {
	d, none := &l.disconnect, l.disconnect.off
	d.off = true
	for d.asking && l.failed == nil && ctx.Err() == nil {
		l.turn(ctx, work) // what is under way would arm them again
	}
	for _, group := range l.Groups {
		if none {
			break
		}
		err := l.insist(ctx, func() error { return l.Trading.CancelAfter(ctx, group, 0) })
		if refuses(err) && !d.armed {
			return nil // the exchange has no timers, which this run has not come so far as to find out
		}
		if err != nil {
			return fmt.Errorf("live: stop cancel on disconnect for group %d: %w; its orders will be cancelled", group,
				err)
		}
	}
	return nil
}
