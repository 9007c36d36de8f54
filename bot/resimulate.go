package bot

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/orders"
	"github.com/tidemark-trading/tidemark/bot/rerun/simulate"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// resimulate runs the strategies of a config over the recorded hours of a bot.
func (a *app) resimulate(ctx context.Context, f *stateFlags, other *backtestFlags) error {
	dir := f.path
	if filepath.Base(dir) == statedir.StateFile {
		dir = filepath.Dir(dir)
	}
	other.config, other.json = f.config, f.json
	c, err := a.load(other)
	if err != nil {
		return err
	}
	return a.runRecorded(ctx, dir, c, other)
}

// runRecorded runs the strategies of a config over a recording, as a backtest.
func (a *app) runRecorded(ctx context.Context, dir string, c *config.Backtest, other *backtestFlags) error {
	hours, err := simulate.ReadHours(ctx, dir)
	if err != nil {
		return err
	}
	if err := hours.Settle(c); err != nil {
		return err
	}
	if err := withoutOwn(ctx, dir, hours); err != nil {
		return err
	}
	p, err := plan.NewBacktest(c, a.Definitions)
	if err != nil {
		return err
	}
	if err := hours.Plan(p); err != nil {
		return err
	}
	p.Run.Log = a.strategyLog("warn")
	guard := &hangGuard{Out: a.Stderr, Left: "temporary files of the run may be left"}
	p.Options.Watch = guard.Watch
	return p.Explain(guard.Run(ctx, func() error { return a.runHours(ctx, hours, p, other) }))
}

// withoutOwn takes the orders of the bot that recorded out of the recorded markets. A recording
// without a state file has none.
func withoutOwn(ctx context.Context, dir string, hours *simulate.Hours) error {
	log, err := orders.Read(ctx, dir, orders.Options{})
	switch {
	case errors.Is(err, bolt.ErrNotFound):
		return nil
	case errors.Is(err, bolt.ErrLocked):
		hours.Own = "The bot runs: its own orders and fills are still in the recorded books and trades. Stop it to " +
			"have them taken out."
		return nil
	case err != nil:
		return err
	case log.Paper:
		return nil
	}
	hours.Others = log.Others
	hours.Own = fmt.Sprintf(
		"The %d orders of the bot, their fills and the liquidity that they took are taken out of the "+
			"recorded books, tickers and trades.", len(log.Orders))
	return nil
}

// runHours runs the plan and shows its result.
func (a *app) runHours(ctx context.Context, hours *simulate.Hours, p *plan.Backtest, f *backtestFlags) (err error) {
	o := &p.Options
	if o.Curve = !f.json; !f.noFiles && (!f.json || f.out != "") {
		o.Out = p.Config.Report.Out
	}
	if o.Config, err = settingsOf(p.Config.Source); err != nil {
		return err
	}
	var halted []backtest.Halted
	o.Halted = func(h backtest.Halted) { halted = append(halted, h) }
	result, err := hours.Run(ctx, p)
	if err != nil {
		return err
	}
	return errors.Join(a.show(result, f.json), a.halts(halted))
}
