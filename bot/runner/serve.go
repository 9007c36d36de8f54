package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
)

// serve opens a bot, trades until ctx ends, and closes it.
func (r *runner) serve(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.close()) }()
	p, log := r.plan, r.log
	watching, rest := context.WithCancel(context.WithoutCancel(ctx))
	var beside sync.WaitGroup
	defer beside.Wait()
	defer rest()
	beside.Go(func() { r.dog.run(watching) })
	if err := r.open(ctx); err != nil {
		err = withHint(statedir.Wrap(err))
		r.watch.stopped("it could not start: "+err.Error(), 0, r.logAbandoned())
		return r.stoppedEarly(ctx, err)
	}
	for _, line := range append(p.Unlimited(), warnOfFolder(p.Config.Bot.State)...) {
		log.Warn().Msg(line)
	}
	if ctx.Err() != nil {
		log.Info().Msg("asked to stop before trading began: the last run's orders are looked up")
	}
	operator, err := openControl(ctx, r)
	if err != nil {
		r.watch.stopped("it could not start: "+err.Error(), 0, r.logAbandoned())
		return err
	}
	beside.Go(func() { r.pulse(watching, operator) })
	if !r.plan.Config.Bot.Paper() {
		beside.Go(func() { r.direct.follow(watching, r.loop) })
	}
	beside.Go(func() { operator.followHangups(watching, r.Hangup) })
	failed := errors.Join(withHint(r.trade(ctx)), operator.close())
	rest()
	beside.Wait() // before the file is closed
	err = errors.Join(failed, r.writeStop(failed))
	if err != nil {
		return Error{err}
	}
	return nil
}

// withHint adds a remedy to an exchange's refusal of the key.
func withHint(err error) error {
	if hint := plan.KeyHint(err); hint != "" {
		return fmt.Errorf("%w; %s; bot doctor looks at everything else", err, hint)
	}
	return err
}

// ready logs and reports that the bot has reconciled with the exchange and trades.
func (r *runner) ready() {
	r.log.Info().Str("mode", r.plan.Config.Bot.Mode).Strs("strategies", r.plan.Names()).Stringer("run", r.run).
		Bool("resumed", r.resumed).
		Int("open_orders", len(r.account.Open(nil, 0, 0))).Msg("trading begins; Ctrl-C stops")
	for i, name := range r.plan.Names() {
		for _, text := range r.engine.Lacking(strategyID(i + 1)) {
			r.log.Info().Str("strategy", name).Str("needs", text).
				Msg("warm-up: the market is traded once it has these candles")
		}
		if halt, halted := r.engine.Halted(strategyID(i + 1)); halted {
			r.log.Warn().Str("strategy", name).Str("reason", halt.Reason).
				Msg("it does not trade: it is halted until bot resume")
		}
	}
	if len(r.earlier.groups) > 0 { // their timers are stopped
		r.saveGroups(r.plan.Groups())
	}
	r.watch.started()
	r.listening.trades.Store(true)
}

// Error is a failed run, of which Run returns the reason. It is shown even after a Ctrl-C.
type Error struct{ error }

// Unwrap returns the error itself.
func (t Error) Unwrap() error { return t.error }

// trade runs feed and loop until ctx ends.
func (r *runner) trade(ctx context.Context) error {
	feeding, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var feed sync.WaitGroup
	feed.Go(func() { r.feed.Run(feeding) })
	feed.Go(func() { r.streams.run(feeding) })
	feed.Go(func() { r.keepTime(feeding) })
	if r.orders != nil {
		feed.Go(func() { r.orders.on.Run(feeding) })
	}
	feed.Go(func() { r.keepFiles(feeding) })
	if len(r.plan.Rankings) > 0 {
		feed.Go(func() { r.keepRanking(feeding) })
	}
	feed.Go(func() { r.keepSummaries(feeding) })
	if r.paper != nil {
		feed.Go(func() { r.paper.relay(feeding, r.feed.Events()) })
	}
	if r.paper == nil {
		if err := r.keeper.write(r.keeper.now(r.trading.Now())); err != nil {
			r.log.Error().Err(err).Msg("bot cancel-all --direct --flatten would not know what to sell")
		}
		r.journal.onHoldings = r.keeper.put
		feed.Go(func() { r.keeper.keep(feeding) })
	}
	announced := r.announceStop(ctx)
	err := r.loop.Run(ctx)
	announced()
	cancel()
	feed.Wait()
	return err
}

// announceStop logs at once that a stop has begun, which may have to wait for the exchange. The
// caller calls announced when the loop has ended: if ctx has ended, the line is in the log once
// announced returns. A loop with nothing to wait for can end before AfterFunc runs.
func (r *runner) announceStop(ctx context.Context) (announced func()) {
	orders, exits := "are cancelled", "are cancelled; the next start places them again"
	if r.plan.Config.Bot.KeepOrders {
		orders = "are kept"
	}
	if r.plan.Config.Bot.KeepExits {
		exits = "are kept"
	}
	announce := sync.OnceFunc(func() {
		r.asked.CompareAndSwap(0, time.Now().UnixNano())
		r.log.Info().Str("exits", exits).Str("orders", orders).Stringer("within", time.Duration(r.stopWithin())).
			Msg("stopping: the exchange's answers are awaited")
	})
	unregister := context.AfterFunc(ctx, announce)
	return func() {
		unregister()
		if ctx.Err() != nil {
			announce() // it waits for AfterFunc's call, if that is under way
		}
	}
}
