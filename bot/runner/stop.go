package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// minStopTime is the least part of stop_within for the loop, however long the opening took after
// the stop was asked for.
const minStopTime = 5 * time.Second

// openContext returns the context of the opening. When the bot is asked to stop meanwhile, a bot
// without open orders gives up at once; one whose last run may have left orders goes on for
// stop_within, because it needs markets and rules to cancel them.
func (r *runner) openContext(ctx context.Context) (context.Context, context.CancelFunc, error) {
	rows, err := r.store.OpenOrders()
	if err != nil || len(rows) == 0 {
		return ctx, func() {}, err
	}
	longer, end := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		r.asked.Store(time.Now().UnixNano())
		timer := time.NewTimer(time.Duration(r.plan.Config.Bot.StopWithin))
		defer timer.Stop()
		select {
		case <-timer.C:
			end()
		case <-longer.Done():
		}
	})
	return longer, func() {
		forget()
		end()
	}, nil
}

// stopWithin is the time that the loop has for a stop.
func (r *runner) stopWithin() market.Duration {
	within := time.Duration(r.plan.Config.Bot.StopWithin)
	if asked := r.asked.Load(); asked != 0 {
		within = max(minStopTime, within-time.Since(time.Unix(0, asked)))
	}
	return market.Duration(within)
}

// stoppedEarly is the result of a bot that was asked to stop before it could query its orders. It
// is no error where no order of the bot can be open.
func (r *runner) stoppedEarly(ctx context.Context, failed error) error {
	if ctx.Err() == nil || r.store == nil || errors.As(failed, new(config.UsageError)) ||
		errors.As(failed, new(*config.KeyError)) {
		return failed
	}
	rows, err := r.store.OpenOrders()
	if err != nil {
		return errors.Join(failed, err)
	}
	for i := range rows {
		r.log.Warn().Stringer("client_order_id", rows[i].ClientOrderID).Stringer("state", rows[i].State).
			Str("in_flight", rows[i].InFlight.String()).Msg("order left as the last run left it")
	}
	exits, err := r.keptExits(r.store)
	if err != nil {
		return errors.Join(failed, err)
	}
	keeps := r.plan.Config.Bot.KeepOrders && len(r.plan.Groups()) == 0
	rows = slices.DeleteFunc(rows, func(o journal.OrderRow) bool {
		return o.InFlight == 0 && (exits[o.ClientOrderID] && o.CodGroupID == 0 || keeps && !exits[o.ClientOrderID])
	})
	if len(rows) == 0 {
		r.log.Info().Msg("stopped before trading began: every order that is open is kept")
		return nil
	}
	return Error{fmt.Errorf(
		"stopped before the exchange could be asked for the %d orders that the last run left open: %w", len(rows),
		failed)}
}

// sentUntil reads from the journal how long the exchange could accept a write that was in flight
// when the last process died.
func (r *runner) sentUntil(id market.OrderID, kind market.CommandKind) (until market.Time, known bool) {
	story, err := r.store.Story(id)
	if err != nil {
		r.log.Warn().Err(err).Int64("order", int64(id)).
			Msg("the journal does not tell when a write of the last run was signed: it stays unresolved for a minute")
		return 0, false
	}
	for i := range slices.Backward(story) {
		if intent, is := story[i].Record.(*journal.Intent); is && intent.Command.Kind == kind {
			until, err := market.TimeOfMillis(intent.Timestamp + intent.WindowMS)
			return until, err == nil
		}
	}
	return 0, false
}

// keepGroups notes the cancel-on-disconnect groups of the config in the state file, beside those of
// earlier runs that the config does not have: their timers may run until they are stopped.
func (r *runner) keepGroups() error {
	text, err := r.store.Blob(statedir.GroupsBlob)
	if err != nil {
		return err
	}
	if text != nil {
		if err := json.Unmarshal(text, &r.earlier.groups); err != nil {
			return fmt.Errorf("cancel-on-disconnect groups in the state file: %w", err)
		}
	}
	groups := r.plan.Groups()
	r.earlier.groups = slices.DeleteFunc(r.earlier.groups, func(g uint16) bool { return slices.Contains(groups, g) })
	r.saveGroups(append(groups, r.earlier.groups...))
	return nil
}

// saveGroups writes the groups whose timers may run with the next commit.
func (r *runner) saveGroups(groups []uint16) {
	text, _ := json.Marshal(groups) // numbers
	r.journal.batch.Blob(statedir.GroupsBlob, text)
}
