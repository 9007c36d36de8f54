package live

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// disconnect keeps the timers of the cancel-on-disconnect groups armed while the loop runs well
// (venue-facts 3.8): a bot that has died renews nothing, and the exchange cancels its orders.
type disconnect struct {
	off     bool // the exchange does not support it, or nothing is renewed any more
	armed   bool // this run has armed them
	next    market.Time
	pending bool
}

// armFirst arms the groups before the first order. It retries an exchange that cannot be reached;
// an exchange that refuses is traded on without the groups.
func (l *Loop) armFirst(ctx context.Context) error {
	for _, group := range l.Groups {
		err := l.retryUntilReached(ctx, func() error { return l.Trading.CancelAfter(ctx, group, l.GroupExpiry) })
		switch {
		case err == nil:
		case refuses(err):
			l.Log.Warn().Err(err).Uint16("group", group).
				Msg("the exchange refuses cancel on disconnect: orders outlive this bot")
			l.ReconcileLog.Note("cancel on disconnect", "refused: "+err.Error())
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

// renew restarts the timers every fifth of their expiry.
func (l *Loop) renew(work context.Context) {
	d := &l.disconnect
	if !d.armed || d.off || d.pending || len(l.Groups) == 0 || d.next > l.now || l.failed != nil {
		return
	}
	d.pending = true
	groups := l.Groups
	l.workers.Go(func() {
		var failed error
		for _, group := range groups {
			if err := l.Trading.CancelAfter(work, group, l.GroupExpiry); err != nil {
				failed = err
			}
		}
		l.replies <- func() {
			d.pending = false
			d.next = l.stamp().Add(l.GroupExpiry / 5)
			if failed != nil {
				d.next = l.now.Add(l.GroupExpiry / 25)
				l.Log.Warn().Err(failed).Msg("cancel on disconnect could not be renewed")
			}
		}
	})
}

// disarm stops the timers of the groups whose orders are to stay, and waits for the exchange to
// confirm. Nothing is renewed afterwards.
func (l *Loop) disarm(ctx, work context.Context) error {
	d, none := &l.disconnect, l.disconnect.off
	groups := l.keptGroups()
	if len(groups) == 0 {
		return nil
	}
	d.off = true
	for d.pending && l.failed == nil && ctx.Err() == nil {
		l.turn(ctx, work) // a pending renewal would arm them again
	}
	for _, group := range groups {
		if none {
			break
		}
		err := l.retryUntilReached(ctx, func() error { return l.Trading.CancelAfter(ctx, group, 0) })
		if refuses(err) && !d.armed {
			return nil // the exchange has no timers; this run had not asked yet
		}
		if err != nil {
			return fmt.Errorf("live: stop cancel on disconnect for group %d: %w; its orders will be cancelled", group,
				err)
		}
	}
	return nil
}

// keptGroups are the groups that are to be stopped: all of them where a stop keeps orders, also of
// a run that has died; otherwise those of the exits that it keeps.
func (l *Loop) keptGroups() (groups []uint16) {
	if l.keeps(false) {
		return l.Groups
	}
	for _, o := range l.kept() {
		if o.CodGroupID != 0 && !slices.Contains(groups, o.CodGroupID) {
			groups = append(groups, o.CodGroupID)
		}
	}
	return groups
}
