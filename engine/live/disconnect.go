package live

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// disconnect keeps the timers of the cancel-on-disconnect groups armed while the loop runs well
// (venue-facts 3.8): a bot that has died renews nothing, and the exchange cancels its orders. Each
// timer that may run is renewed or stopped. A group that the exchange refuses is asked for again
// with each renewal.
type disconnect struct {
	groups  []group // of Config.Groups, in its order
	off     bool    // nothing is renewed any more
	next    market.Time
	pending bool
}

// group is a group of Config.Groups.
type group struct {
	id      uint16
	asked   bool        // this run has asked for its timer
	armed   bool        // its timer may run
	refused error       // the exchange's latest answer, where it is a refusal
	shared  int         // open orders of others that carry the group, by the last list
	since   market.Time // of the first of these
}

// NotGuarded is a group whose orders outlive this bot, should it die.
type NotGuarded struct {
	Group uint16
	Cause string
	Since market.Time
}

// NotGuarded are the groups whose orders outlive this bot. Only the loop's goroutine may call it.
func (l *Loop) NotGuarded() (list []NotGuarded) {
	for i := range l.disconnect.groups {
		switch g := &l.disconnect.groups[i]; {
		case g.refused != nil:
			list = append(list, NotGuarded{g.id, "the exchange refuses its timer: " + g.refused.Error(), g.since})
		case g.shared > 0:
			list = append(list, NotGuarded{g.id, fmt.Sprintf("%d orders of another program carry it: while that "+
				"program renews the timer, these orders stay", g.shared), g.since})
		}
	}
	return list
}

// armFirst stops the timers of an earlier run, and arms the groups before the first order. It
// retries an exchange that cannot be reached; one that refuses is traded on without that group.
func (l *Loop) armFirst(ctx context.Context) error {
	if err := l.disarmFormer(ctx); err != nil {
		return err
	}
	d := &l.disconnect
	l.listGroups()
	for i := range d.groups {
		g := &d.groups[i]
		g.asked = true
		err := l.retryUntilReached(ctx, func() error { return l.Trading.CancelAfter(ctx, g.id, l.GroupExpiry) })
		if err != nil && !refuses(err) {
			g.armed = true // it may be
			return fmt.Errorf("live: arm cancel on disconnect: %w", err)
		}
		l.noteTimer(g, err)
	}
	d.next = l.stamp().Add(l.GroupExpiry / 5)
	return nil
}

// listGroups begins the list of groups.
func (l *Loop) listGroups() {
	for _, id := range l.Groups[len(l.disconnect.groups):] {
		l.disconnect.groups = append(l.disconnect.groups, group{id: id})
	}
}

// disarmFormer stops the timers of groups that an earlier run had and this one does not.
func (l *Loop) disarmFormer(ctx context.Context) error {
	for _, id := range l.FormerGroups {
		err := l.retryUntilReached(ctx, func() error { return l.Trading.CancelAfter(ctx, id, 0) })
		if err != nil && !refuses(err) {
			return fmt.Errorf("live: stop cancel on disconnect of group %d, which the last run had: %w", id, err)
		}
	}
	l.FormerGroups = nil
	return nil
}

// noteTimer notes the exchange's answer to a timer that was armed.
func (l *Loop) noteTimer(g *group, err error) {
	switch {
	case err == nil && g.refused != nil:
		l.Log.Info().Uint16("group", g.id).Msg("the exchange takes the timer of this cancel-on-disconnect group again")
		l.ReconcileLog.Note("cancel on disconnect", fmt.Sprintf("group %d is guarded again", g.id))
	case err != nil && g.refused == nil:
		l.Log.Warn().Err(err).Uint16("group", g.id).
			Msg("the exchange refuses cancel on disconnect: orders of this group outlive this bot")
		l.ReconcileLog.Note("cancel on disconnect", fmt.Sprintf("refused: group %d is not guarded: %s", g.id, err))
		g.since = l.now
	}
	g.refused, g.armed = err, g.armed || err == nil
}

// shareGroups notes which groups open orders of others carry.
func (l *Loop) shareGroups(foreign map[uint16]int) {
	for i := range l.disconnect.groups {
		g := &l.disconnect.groups[i]
		if n := foreign[g.id]; n > 0 && g.shared == 0 {
			if g.refused == nil {
				g.since = l.now
			}
			l.Log.Warn().Uint16("group", g.id).Int("orders", n).
				Msg("another program's orders carry this cancel-on-disconnect group: use one group a bot")
			l.ReconcileLog.Note("cancel on disconnect", fmt.Sprintf("group %d is another program's, too", g.id))
		}
		g.shared = foreign[g.id]
	}
}

// renew restarts the timers every fifth of their expiry.
func (l *Loop) renew(work context.Context) {
	d := &l.disconnect
	if d.next == 0 || d.off || d.pending || len(d.groups) == 0 || d.next > l.now || l.failed != nil {
		return
	}
	d.pending = true
	groups := slices.Clone(d.groups)
	l.workers.Go(func() {
		answers := make([]error, len(groups))
		for i := range groups {
			answers[i] = l.Trading.CancelAfter(work, groups[i].id, l.GroupExpiry)
		}
		l.replies <- func() { l.renewed(answers) }
	})
}

// renewed takes the answers to a round of renewals. A timer that may run is tried again soon.
func (l *Loop) renewed(answers []error) {
	d := &l.disconnect
	d.pending = false
	d.next = l.stamp().Add(l.GroupExpiry / 5)
	for i, err := range answers {
		g := &d.groups[i]
		if err == nil || refuses(err) {
			l.noteTimer(g, err)
		}
		if err == nil || !g.armed {
			continue
		}
		d.next = l.now.Add(l.GroupExpiry / 25)
		l.Log.Warn().Err(err).Uint16("group", g.id).Msg("cancel on disconnect could not be renewed")
	}
}

// disarm stops the timers of the groups whose orders are to stay, and waits for the exchange to
// confirm. Nothing is renewed afterwards.
func (l *Loop) disarm(ctx, work context.Context) error {
	d, kept := &l.disconnect, l.keptGroups()
	if len(kept)+len(l.FormerGroups) == 0 {
		return nil
	}
	d.off = true
	for d.pending && l.failed == nil && ctx.Err() == nil {
		l.turn(ctx, work) // a pending renewal would arm them again
	}
	if err := l.disarmFormer(ctx); err != nil {
		return err
	}
	l.listGroups()
	for i := range d.groups {
		g := &d.groups[i]
		if !slices.Contains(kept, g.id) || g.refused != nil && !g.armed {
			continue
		}
		err := l.retryUntilReached(ctx, func() error { return l.Trading.CancelAfter(ctx, g.id, 0) })
		if refuses(err) && !g.asked {
			continue // the exchange has no timers; this run had not asked yet
		}
		if err != nil {
			return fmt.Errorf("live: stop cancel on disconnect for group %d: %w; its orders will be cancelled", g.id,
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
