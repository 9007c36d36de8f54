package bot

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

const runHelp = `Trade: run strategies on an exchange that speaks the API, such as ` + "`bot exchange`" + `, until Ctrl-C.

What the bot sends is on disk before it leaves, and what the exchange did not answer is asked for, never sent again. Kill the bot at any
moment and start it again: it goes on where it was. Ctrl-C stops the strategies, cancels their orders (or keeps them, as configured), waits
for the exchange to confirm, and says what is left; a second Ctrl-C cancels them without the strategies, and ends. docs/running.md tells the way from sandbox to live.`

const runExample = `  bot exchange                                  # in one terminal
  bot run -c configs/sandbox.toml               # in another
  bot run -c my.toml --set bot.log=debug`

// runFlags are the flags of the command.
type runFlags struct {
	config string
	sets   []string
}

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use: "run", Short: "Trade on an exchange", Long: runHelp, Example: runExample, Args: onlyFlags,
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.run(ctx, f) }),
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "config `FILE`")
	c.Flags().StringArrayVar(&f.sets, "set", nil, "change one setting: `a.b.c=value`; may be repeated")
	return c
}

// runPlanOf reads the config that the flags mean, and checks it.
func (a *app) runPlanOf(f *runFlags) (*runPlan, error) {
	c, err := a.runConfigOf(f)
	if err != nil {
		return nil, err
	}
	return newRunPlan(c, a.Kinds, a.Getenv)
}

// runConfigOf reads the config that the flags mean.
func (a *app) runConfigOf(f *runFlags) (*runConfig, error) {
	if f.config == "" {
		return nil, usagef("want a config: -c configs/sandbox.toml")
	}
	overrides, err := parseSets(f.sets)
	if err != nil {
		return nil, err
	}
	source, err := readSource(f.config, overrides)
	if err != nil {
		return nil, err
	}
	return loadRun(source)
}

// run runs the command.
func (a *app) run(ctx context.Context, f *runFlags) error {
	p, err := a.runPlanOf(f)
	if err != nil {
		return err
	}
	outlive()
	log := a.logger(p.Bot.Log)
	log.Info().Str("mode", p.Bot.Mode).Str("exchange", p.Exchange.origin()).Str("state", p.Bot.State).Str("version", codeVersion(debug.ReadBuildInfo())).Msg("the bot starts")
	for _, hint := range p.source.hints {
		log.Warn().Msg(hint)
	}
	p.faults = a.faults
	return a.supervise(ctx, newRunner(p, log))
}

// serve opens a bot, lets it trade until ctx ends, and closes it.
func (a *app) serve(ctx context.Context, r *runner) (err error) {
	defer func() { err = errors.Join(err, r.close()) }()
	p, log := r.plan, r.log
	watching, rest := context.WithCancel(context.WithoutCancel(ctx))
	var beside sync.WaitGroup
	defer beside.Wait()
	defer rest()
	beside.Go(func() { r.dog.run(watching) })
	if err := r.open(ctx); err != nil {
		err = withMend(aboutState(err))
		r.watch.stopped("it could not start: "+err.Error(), 0)
		return r.early(ctx, err)
	}
	for _, line := range append(p.checked.unlimited(), p.openFolder()...) {
		log.Warn().Msg(line)
	}
	if ctx.Err() != nil {
		log.Info().Msg("asked to stop before trading began: the last run's orders are looked up")
	}
	operator, err := openControl(ctx, r)
	if err != nil {
		r.watch.stopped("it could not start: "+err.Error(), 0)
		return err
	}
	if r.plan.Bot.Mode == modeLive {
		beside.Go(func() { r.followDirect(watching) })
	}
	failed := errors.Join(withMend(r.trade(ctx)), operator.close())
	rest()
	beside.Wait() // before the file is closed
	err = errors.Join(failed, r.leave(failed))
	if err != nil {
		return tradingError{err}
	}
	return nil
}

// ready lets the log and whoever watches know that the bot has reconciled with the exchange, and trades.
func (r *runner) ready() {
	r.log.Info().Str("mode", r.plan.Bot.Mode).Strs("strategies", r.plan.names()).Stringer("run", r.run).Bool("resumed", r.resumed).
		Int("open_orders", len(r.account.Open(nil, 0, 0))).Msg("trading begins; Ctrl-C stops")
	for i, name := range r.plan.names() {
		if halt, halted := r.engine.Halted(strategyID(i + 1)); halted {
			r.log.Warn().Str("strategy", name).Str("reason", halt.Reason).Msg("it does not trade: it is halted until bot resume")
		}
	}
	r.watch.started()
}

// tradingError is the end of a run that was not in good order. It is told as it is, also after a Ctrl-C.
type tradingError struct{ error }

// Unwrap returns the error itself.
func (t tradingError) Unwrap() error { return t.error }

// trade runs feed and loop until ctx ends.
func (r *runner) trade(ctx context.Context) error {
	feeding, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var feed sync.WaitGroup
	feed.Go(func() { r.feed.Run(feeding) })
	feed.Go(func() { r.keepTime(feeding) })
	feed.Go(func() { r.keepFiles(feeding) })
	if r.paper != nil {
		feed.Go(func() { r.paper.relay(feeding, r.feed.Events()) })
	}
	if r.keeper != nil {
		if err := r.leaveHoldings(r.holdings(r.trading.Now())); err != nil {
			r.log.Error().Err(err).Msg("bot cancel-all --direct --flatten would not know what to sell")
		}
		r.journal.left = func(at market.Time) { r.keeper.take(r.holdings(at)) }
		feed.Go(func() { r.keepHoldings(feeding) })
	}
	announced := r.announceStop(ctx)
	err := r.loop.Run(ctx)
	announced()
	cancel()
	feed.Wait()
	return err
}

// announceStop logs at once that a stop has begun, which may have to wait for the exchange. The caller calls announced when the loop has
// ended: if ctx has ended, the line is in the log once announced returns. A loop with nothing to wait for can end before AfterFunc runs.
func (r *runner) announceStop(ctx context.Context) (announced func()) {
	orders := "are cancelled"
	if r.plan.Bot.KeepOrders {
		orders = "are kept"
	}
	announce := sync.OnceFunc(func() {
		r.asked.CompareAndSwap(0, time.Now().UnixNano())
		r.log.Info().Str("orders", orders).Stringer("within", time.Duration(r.stopWithin())).Msg("stopping: the exchange's answers are awaited")
	})
	unregister := context.AfterFunc(ctx, announce)
	return func() {
		unregister()
		if ctx.Err() != nil {
			announce() // it waits for AfterFunc's call, if that is under way
		}
	}
}

// leave writes the end of the run down and says what is left.
func (r *runner) leave(failed error) error {
	open := r.account.Open(nil, 0, 0)
	reason := "asked to stop"
	if failed != nil {
		reason = failed.Error()
	}
	r.watch.stopped(reason, len(open))
	r.log.Info().Str("mode", r.plan.Bot.Mode).Int("open_orders", len(open)).Str("reason", reason).Msg("trading has ended")
	if r.paper != nil {
		r.log.Info().Msg("it was paper: no order has left this process; fills are simulated at the exchange's bid and ask, whatever the amount")
	}
	for _, o := range open {
		m := r.plan.catalog.Market(o.Market)
		r.log.Info().Stringer("client_order_id", o.ClientOrderID).Str("market", m.Name).Stringer("side", o.Side).Str("amount", m.FormatQty(o.AmountRemaining)).
			Str("price", m.FormatPrice(o.Price)).Msg("order left open")
	}
	for i, name := range r.plan.names() {
		r.leavePositions(i+1, name)
	}
	r.journal.due(r.engine.Now(), true, r.journal.journalRefusal)
	r.journal.batch.Journal(r.engine.Now(), &journal.Stop{Run: r.run, Reason: reason, Open: len(open)})
	r.journal.whole = 0 // save everything
	if err := r.journal.Commit(r.engine.Now()); err != nil {
		return fmt.Errorf("write the end of the run down: %w", err)
	}
	return nil
}

// leavePositions says what a strategy holds.
func (r *runner) leavePositions(id int, name string) {
	for _, m := range r.plan.catalog.Markets() {
		if held := r.account.Position(strategyID(id), m.ID); held.Amount != 0 {
			r.log.Info().Str("strategy", name).Str("market", m.Name).Str("amount", m.FormatQty(held.Amount)).Msg("position held")
		}
	}
}

func strategyID(n int) market.StrategyID { return market.StrategyID(n) }
