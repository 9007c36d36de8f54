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
	config  *Config // the loop's
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
func (l *Loop) NotGuarded() []NotGuarded { return l.disconnect.notGuarded() }

func (d *disconnect) notGuarded() (list []NotGuarded) {
	for i := range d.groups {
		switch g := &d.groups[i]; {
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
func (d *disconnect) armFirst(ctx context.Context, now market.Time) error {
	if err := d.disarmFormer(ctx); err != nil {
		return err
	}
	d.list()
	for i := range d.groups {
		g := &d.groups[i]
		g.asked = true
		err := d.ask(ctx, g.id, d.config.GroupExpiry)
		if err != nil && !refuses(err) {
			g.armed = true // it may be
			return fmt.Errorf("live: arm cancel on disconnect: %w", err)
		}
		d.note(g, err, now)
	}
	return nil
}

// ask arms a group's timer, or stops it where expiry is 0. It retries an exchange that cannot be
// reached.
func (d *disconnect) ask(ctx context.Context, id uint16, expiry market.Duration) error {
	return RetryUntilReached(ctx, d.config.Log, func() error { return d.config.Trading.CancelAfter(ctx, id, expiry) })
}

// armed notes a time at which all timers have been armed, or asked for.
func (d *disconnect) armed(at market.Time) { d.next = at.Add(d.config.GroupExpiry / 5) }

// list begins the list of groups.
func (d *disconnect) list() {
	for _, id := range d.config.Groups[len(d.groups):] {
		d.groups = append(d.groups, group{id: id})
	}
}

// disarmFormer stops the timers of groups that an earlier run had and this one does not.
func (d *disconnect) disarmFormer(ctx context.Context) error {
	for _, id := range d.config.FormerGroups {
		err := d.ask(ctx, id, 0)
		if err != nil && !refuses(err) {
			return fmt.Errorf("live: stop cancel on disconnect of group %d, which the last run had: %w", id, err)
		}
	}
	d.config.FormerGroups = nil
	return nil
}

// note notes the exchange's answer to a timer that was armed.
func (d *disconnect) note(g *group, err error, now market.Time) {
	switch {
	case err == nil && g.refused != nil:
		d.config.Log.Info().Uint16("group", g.id).
			Msg("the exchange takes the timer of this cancel-on-disconnect group again")
		d.tell(fmt.Sprintf("group %d is guarded again", g.id))
	case err != nil && g.refused == nil:
		d.config.Log.Warn().Err(err).Uint16("group", g.id).
			Msg("the exchange refuses cancel on disconnect: orders of this group outlive this bot")
		d.tell(fmt.Sprintf("refused: group %d is not guarded: %s", g.id, err))
		g.since = now
	}
	g.refused, g.armed = err, g.armed || err == nil
}

// tell records a note about the groups.
func (d *disconnect) tell(text string) { d.config.ReconcileLog.Note("cancel on disconnect", text) }

// share notes which groups open orders of others carry.
func (d *disconnect) share(foreign map[uint16]int, now market.Time) {
	for i := range d.groups {
		g := &d.groups[i]
		if n := foreign[g.id]; n > 0 && g.shared == 0 {
			if g.refused == nil {
				g.since = now
			}
			d.config.Log.Warn().Uint16("group", g.id).Int("orders", n).
				Msg("another program's orders carry this cancel-on-disconnect group: use one group a bot")
			d.tell(fmt.Sprintf("group %d is another program's, too", g.id))
		}
		g.shared = foreign[g.id]
	}
}

// renew restarts the timers every fifth of their expiry.
func (l *Loop) renew(work context.Context) {
	d := &l.disconnect
	if !d.due(l.now) || l.failed != nil {
		return
	}
	d.pending = true
	groups := slices.Clone(d.groups)
	l.workers.Go(func() {
		answers := make([]error, len(groups))
		for i := range groups {
			answers[i] = l.Trading.CancelAfter(work, groups[i].id, l.GroupExpiry)
		}
		l.replies <- func() { d.renewed(answers, l.stamp()) }
	})
}

// due reports whether it is time to restart the timers.
func (d *disconnect) due(now market.Time) bool {
	return d.next != 0 && !d.off && !d.pending && len(d.groups) > 0 && d.next <= now
}

// renewed takes the answers to a round of renewals. A timer that may run is tried again soon.
func (d *disconnect) renewed(answers []error, now market.Time) {
	d.pending = false
	d.armed(now)
	for i, err := range answers {
		g := &d.groups[i]
		if err == nil || refuses(err) {
			d.note(g, err, now)
		}
		if err == nil || !g.armed {
			continue
		}
		d.next = now.Add(d.config.GroupExpiry / 25)
		d.config.Log.Warn().Err(err).Uint16("group", g.id).Msg("cancel on disconnect could not be renewed")
	}
}

// disarm stops the timers of the groups whose orders are to stay, and waits for the exchange to
// confirm. Nothing is renewed afterwards.
func (l *Loop) disarm(ctx, work context.Context) error {
	d, kept := &l.disconnect, l.keptGroups()
	if len(kept)+len(d.config.FormerGroups) == 0 {
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
		err := d.ask(ctx, g.id, 0)
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
