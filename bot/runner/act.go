package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

const (
	confirmEvery = 200 * time.Millisecond // between two checks whether the exchange has confirmed
	retryAfter   = 2 * time.Second        // before a cancel without effect is sent again
)

// act journals an action and carries it out within its time. It goes on when the client has hung
// up.
func (c *control) act(verb string, ask *operator.Request, run func(context.Context,
	*operator.Request) (*operator.ActResult, error)) (*operator.ActResult, error) {
	wait := time.Duration(ask.WaitMS) * time.Millisecond
	if wait <= 0 || wait > operator.MaxWait {
		return nil, config.Usagef("a wait of %s is not in 1ms to %s", wait, operator.MaxWait)
	}
	if !c.acting.TryLock() {
		return nil, errors.New("another command is under way: ask again when it is done")
	}
	defer c.acting.Unlock()
	ctx, cancel := context.WithTimeout(c.ctx, wait)
	defer cancel()
	if err := c.note(ctx, verb, ask); err != nil {
		return nil, err
	}
	return run(ctx, ask)
}

// maxSaid is the longest reason or name of an operator that is journalled.
const maxSaid = 500

// note journals an action that is about to be carried out. A strategy or an order that the bot does
// not know is an error, and nothing is journalled.
func (c *control) note(ctx context.Context, verb string, ask *operator.Request) error {
	act := journal.Act{Verb: verb, Strategy: ask.Strategy, Foreign: ask.Foreign, Reason: ask.Reason, By: ask.By,
		From: ask.From}
	for _, text := range []string{act.Reason, act.By, act.From} {
		if len(text) > maxSaid || !utf8.ValidString(text) {
			return config.Usagef("%.20q… is longer than %d bytes, or no text", text, maxSaid)
		}
	}
	if _, _, err := c.strategies(ask.Strategy); err != nil {
		return err
	}
	if ask.Order != "" {
		row, err := c.r.store.FindOrder(ask.Order)
		if err != nil {
			return err
		}
		act.Order = row.ID
	}
	return c.do(ctx, func(at market.Time) []market.Command {
		c.r.journal.batch.Act(at, &act)
		c.r.log.Info().Str("action", verb).Str("strategy", act.Strategy).Int64("order", int64(act.Order)).
			Str("by", act.By).Str("from", act.From).Str("reason", act.Reason).Msg("the operator acts")
		return nil
	})
}

// strategies lists the strategies of a name, all where it is empty.
func (c *control) strategies(name string) (ids []market.StrategyID, names []string, err error) {
	for i, known := range c.r.plan.Names() {
		if name == "" || name == known {
			ids, names = append(ids, strategyID(i+1)), append(names, known)
		}
	}
	if len(ids) == 0 {
		return nil, nil, config.Usagef("no strategy %q; there are %v; leave the name out to mean all",
			config.Clip(name), c.r.plan.Names())
	}
	return ids, names, nil
}

// until calls step again and again until it is done, or the time is over.
func (c *control) until(ctx context.Context,
	step func(at market.Time) (commands []market.Command, done bool)) (confirmed bool, err error) {
	ticker := time.NewTicker(confirmEvery)
	defer ticker.Stop()
	for {
		done := false
		err := c.do(c.ctx, func(at market.Time) (commands []market.Command) {
			commands, done = step(at)
			return commands
		})
		if err != nil || done {
			return done, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false, loopError(c.ctx.Err())
		}
	}
}

// ended waits until orders have ended, as a list of the exchange confirms, and cancels again those
// whose cancel had no effect. back are the open orders that belong to them: one whose end was false
// comes back. The report lists the open ones.
func (c *control) ended(ctx context.Context, ids []market.OrderID, report *operator.ActResult,
	back func() []market.OrderID) error {
	var next market.Time
	done, err := c.until(ctx, func(at market.Time) (commands []market.Command, done bool) {
		for _, id := range back() {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		left := slices.DeleteFunc(slices.Clone(ids), func(id market.OrderID) bool { return c.r.account.Own(id) == nil })
		report.Cancelled, report.Open = len(ids)-len(left), c.describe(left)
		if len(left) > 0 && at >= next {
			next = at.Add(retryAfter)
			commands = c.enter(&market.Input{Kind: market.InputCancel, At: at, Orders: left})
		}
		return commands, len(left) == 0 && c.r.loop.Proven()
	})
	report.Done = done
	return err
}

// enter lets an input of the operator into the engine. Call it in the loop's goroutine.
func (c *control) enter(in *market.Input) []market.Command { return c.r.door.Enter(in).Commands }

// describe lists own open orders. Call it in the loop's goroutine.
func (c *control) describe(ids []market.OrderID) []operator.OrderRow {
	list := []operator.OrderRow{}
	for _, id := range ids {
		if o := c.r.account.Own(id); o != nil {
			list = append(list, operator.OrderOf(c.r.plan.Catalog, c.row(o)))
		}
	}
	return list
}

// row is an own order as the state file keeps it.
func (c *control) row(o *state.Order) *journal.OrderRow {
	return &journal.OrderRow{Order: o.Order, StrategyName: c.r.nameOf(o.Strategy), State: o.State, InFlight: o.InFlight,
		CancelWanted: o.CancelWanted, Reported: o.Reported, Code: o.Code}
}

// halt stops strategies and waits until their orders have ended, except exits of brackets.
func (c *control) halt(ctx context.Context, ask *operator.Request) (*operator.ActResult, error) {
	ids, names, err := c.strategies(ask.Strategy)
	if err != nil {
		return nil, err
	}
	report := operator.NewReport(names)
	var open []market.OrderID
	var last market.OrderID
	err = c.do(ctx, func(at market.Time) (commands []market.Command) {
		last = c.r.engine.LastOrder()
		for i, id := range ids {
			if _, halted := c.r.engine.Halted(id); halted {
				report.Unchanged = append(report.Unchanged, names[i])
			}
			commands = append(commands, c.enter(&market.Input{Kind: market.InputHalt, At: at, Strategy: id,
				Reason: reasonOf(ask, "halted")})...)
			var exits []market.OrderID
			for _, o := range c.r.account.Open(nil, id, 0) {
				if c.r.engine.Brackets().IsExit(o.ID) {
					exits = append(exits, o.ID)
				} else {
					open = append(open, o.ID)
				}
			}
			report.Protecting = append(report.Protecting, c.describe(exits)...)
		}
		return commands
	})
	if err != nil {
		return nil, err
	}
	return report, c.ended(ctx, open, report, func() (all []market.OrderID) {
		for _, id := range ids {
			all = append(all, c.before(id, last, false)...)
		}
		return all
	})
}

// before lists the open orders of a strategy, 0 for all, that are numbered up to last, without the
// exits of brackets or with them. Call it in the loop's goroutine.
func (c *control) before(id market.StrategyID, last market.OrderID, exits bool) (list []market.OrderID) {
	for _, o := range c.r.account.Open(nil, id, 0) {
		if o.ID <= last && (exits || !c.r.engine.Brackets().IsExit(o.ID)) {
			list = append(list, o.ID)
		}
	}
	return list
}

// reasonOf is the reason for the journal.
func reasonOf(ask *operator.Request, verb string) string {
	if ask.Reason != "" {
		return verb + " by the operator: " + ask.Reason
	}
	return verb + " by the operator"
}

// resume lets strategies trade again.
func (c *control) resume(ctx context.Context, ask *operator.Request) (*operator.ActResult, error) {
	ids, names, err := c.strategies(ask.Strategy)
	if err != nil {
		return nil, err
	}
	report := operator.NewReport(names)
	var unloaded []error
	err = c.do(ctx, func(at market.Time) (commands []market.Command) {
		for i, id := range ids {
			halt, halted := c.r.engine.Halted(id)
			if c.r.engine.Unloaded(id) {
				unloaded = append(unloaded, fmt.Errorf("%s stays halted: %s", names[i], halt.Reason))
				continue
			}
			if !halted {
				report.Unchanged = append(report.Unchanged, names[i])
				if !c.r.engine.Brackets().Withdrawn(id) {
					continue
				} // cancel-all has taken its exits
			}
			commands = append(commands, c.enter(&market.Input{Kind: market.InputResume, At: at, Strategy: id})...)
			c.r.journal.batch.Resume(at, &journal.Resume{Scope: operator.HaltScope(names[i]), By: byOperator})
			c.r.log.Info().Str("strategy", names[i]).Msg("resumed by the operator")
		}
		report.Opening = c.opening()
		return commands
	})
	if err != nil {
		return nil, err
	}
	report.Done = true
	err = c.query(ctx, func(market.Time) {}) // the turn of the resume has been committed
	return report, errors.Join(append(unloaded, err)...)
}

// cancel cancels an own open order. The bracket of a position places a cancelled exit again: the
// report lists what protects the position then.
func (c *control) cancel(ctx context.Context, ask *operator.Request) (*operator.ActResult, error) {
	row, err := c.r.store.FindOrder(ask.Order)
	if err != nil {
		return nil, err
	}
	if row.State.Terminal() {
		return nil, config.Usagef("order %d has ended: %s", row.ID, row.State)
	}
	exit := false
	if err := c.query(ctx, func(market.Time) { exit = c.r.engine.Brackets().IsExit(row.ID) }); err != nil {
		return nil, err
	}
	report := operator.NewReport([]string{row.StrategyName})
	none := func() []market.OrderID { return nil }
	if err := c.ended(ctx, []market.OrderID{row.ID}, report, none); err != nil || !exit || !report.Done {
		return report, err
	}
	return report, c.query(ctx, func(market.Time) {
		for _, o := range c.r.account.Open(nil, row.Strategy, row.Market) {
			if c.r.engine.Brackets().IsExit(o.ID) {
				report.Protecting = append(report.Protecting, c.describe([]market.OrderID{o.ID})...)
			}
		}
	})
}

// cancelAll cancels every own open order, and with Foreign the account's other ones too.
func (c *control) cancelAll(ctx context.Context, ask *operator.Request) (*operator.ActResult, error) {
	report := operator.NewReport([]string{})
	var open []market.OrderID
	var last market.OrderID
	err := c.do(ctx, func(at market.Time) []market.Command {
		last = c.r.engine.LastOrder()
		for _, o := range c.r.account.Open(nil, 0, 0) {
			open = append(open, o.ID)
		}
		for i, name := range c.r.plan.Names() {
			if _, halted := c.r.engine.Halted(strategyID(i + 1)); !halted {
				report.Trading = append(report.Trading, name)
			}
		}
		return c.enter(&market.Input{Kind: market.InputCancelAll, At: at})
	})
	if err != nil {
		return nil, err
	}
	back := func() []market.OrderID { return c.before(0, last, true) }
	if err := c.ended(ctx, open, report, back); err != nil {
		return report, err
	}
	if err := c.query(ctx, func(market.Time) { report.Unprotected = c.r.bare(nil) }); err != nil || !ask.Foreign {
		return report, err
	}
	return report, c.cancelForeign(ctx, report)
}

// held lists a strategy's positions. Call it in the loop's goroutine.
func (c *control) held(id market.StrategyID) (list []operator.Position) {
	for _, m := range c.r.plan.Catalog.Markets() {
		if p := c.r.account.Position(id, m.ID); p.Amount != 0 {
			row := journal.PositionRow{Position: p, StrategyName: c.r.nameOf(id), Strategy: id, Market: m.ID}
			list = append(list, operator.PositionOf(m, &row, c.r.account.Last(m.ID)))
		}
	}
	return list
}
