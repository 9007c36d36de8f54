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
	base
	groups  []group // of Config.Groups, in its order; those that were asked for
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
func (d *disconnect) armFirst(ctx context.Context) error {
	if err := d.disarmFormer(ctx); err != nil {
		return err
	}
	d.list()
	for i := range d.groups {
		g := &d.groups[i]
		g.asked = true
		err := d.arm(ctx, g.id, d.GroupExpiry)
		if err != nil && !refuses(err) {
			g.armed = true // it may be
			return fmt.Errorf("live: arm cancel on disconnect: %w", err)
		}
		d.note(g, err)
	}
	d.armed()
	return nil
}

// arm arms a group's timer, or stops it where expiry is 0. It retries an exchange that cannot be
// reached.
func (d *disconnect) arm(ctx context.Context, id uint16, expiry market.Duration) error {
	return RetryUntilReached(ctx, d.Log, func() error { return d.Trading.CancelAfter(ctx, id, expiry) })
}

// armed notes that all timers have been armed now, or asked for.
func (d *disconnect) armed() { d.next = d.stamp().Add(d.GroupExpiry / 5) }

// list begins the list of groups.
func (d *disconnect) list() {
	for _, id := range d.Groups[len(d.groups):] {
		d.groups = append(d.groups, group{id: id})
	}
}

// disarmFormer stops the timers of groups that an earlier run had and this one does not.
func (d *disconnect) disarmFormer(ctx context.Context) error {
	for _, id := range d.FormerGroups {
		err := d.arm(ctx, id, 0)
		if err != nil && !refuses(err) {
			return fmt.Errorf("live: stop cancel on disconnect of group %d, which the last run had: %w", id, err)
		}
	}
	d.FormerGroups = nil
	return nil
}

// note notes the exchange's answer to a timer that was armed.
func (d *disconnect) note(g *group, err error) {
	switch {
	case err == nil && g.refused != nil:
		d.Log.Info().Uint16("group", g.id).
			Msg("the exchange takes the timer of this cancel-on-disconnect group again")
		d.tell(fmt.Sprintf("group %d is guarded again", g.id))
	case err != nil && g.refused == nil:
		d.Log.Warn().Err(err).Uint16("group", g.id).
			Msg("the exchange refuses cancel on disconnect: orders of this group outlive this bot")
		d.tell(fmt.Sprintf("refused: group %d is not guarded: %s", g.id, err))
		g.since = d.now
	}
	g.refused, g.armed = err, g.armed || err == nil
}

// tell records a note about the groups.
func (d *disconnect) tell(text string) { d.ReconcileLog.Note(d.stamp(), "cancel on disconnect", text) }

// share notes which groups open orders of others carry.
func (d *disconnect) share(foreign map[uint16]int) {
	for i := range d.groups {
		g := &d.groups[i]
		if n := foreign[g.id]; n > 0 && g.shared == 0 {
			if g.refused == nil {
				g.since = d.now
			}
			d.Log.Warn().Uint16("group", g.id).Int("orders", n).
				Msg("another program's orders carry this cancel-on-disconnect group: use one group a bot")
			d.tell(fmt.Sprintf("group %d is another program's, too", g.id))
		}
		g.shared = foreign[g.id]
	}
}

// renew restarts the timers every fifth of their expiry.
func (d *disconnect) renew(work context.Context) {
	if d.next == 0 || d.off || d.pending || len(d.groups) == 0 || d.next > d.now {
		return
	}
	d.pending = true
	groups := slices.Clone(d.groups)
	d.ask(func() func() {
		answers := make([]error, len(groups))
		for i := range groups {
			answers[i] = d.Trading.CancelAfter(work, groups[i].id, d.GroupExpiry)
		}
		return func() { d.renewed(answers) }
	})
}

// renewed takes the answers to a round of renewals. A timer that may run is tried again soon.
func (d *disconnect) renewed(answers []error) {
	d.pending = false
	d.armed()
	for i, err := range answers {
		g := &d.groups[i]
		if err == nil || refuses(err) {
			d.note(g, err)
		}
		if err == nil || !g.armed {
			continue
		}
		d.next = d.now.Add(d.GroupExpiry / 25)
		d.Log.Warn().Err(err).Uint16("group", g.id).Msg("cancel on disconnect could not be renewed")
	}
}

// disarm stops the timers of the groups whose orders are to stay, and waits for the exchange to
// confirm. Nothing is renewed afterwards.
func (l *Loop) disarm(ctx, work context.Context) error {
	d, kept := &l.disconnect, l.keptGroups()
	if len(kept)+len(d.FormerGroups) == 0 {
		return nil
	}
	d.off = true
	for d.pending && l.failed == nil && ctx.Err() == nil {
		l.turn(ctx, work) // a pending renewal would arm them again
	}
	return d.disarm(ctx, kept)
}

// disarm stops the timers of some groups, and of those of an earlier run.
func (d *disconnect) disarm(ctx context.Context, kept []uint16) error {
	if err := d.disarmFormer(ctx); err != nil {
		return err
	}
	d.list()
	for i := range d.groups {
		g := &d.groups[i]
		if !slices.Contains(kept, g.id) || g.refused != nil && !g.armed {
			continue
		}
		err := d.arm(ctx, g.id, 0)
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
func (e *ending) keptGroups() (groups []uint16) {
	if e.keeps(false) {
		return e.Groups
	}
	for _, o := range e.kept() {
		if o.CodGroupID != 0 && !slices.Contains(groups, o.CodGroupID) {
			groups = append(groups, o.CodGroupID)
		}
	}
	return groups
}
