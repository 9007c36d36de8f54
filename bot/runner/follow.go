package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// followEvery is the time between two reads of the kill switch's log.
const followEvery = 250 * time.Millisecond

// orderGateway sends the loop's orders to the exchange until the kill switch is turned; from then
// on only cancels.
type orderGateway struct {
	exchange.Trading
	shut atomic.Bool
}

// Send sends an intent once, or returns exchange.ErrNotSent while the gateway is shut.
func (v *orderGateway) Send(ctx context.Context, i *exchange.Intent) (exchange.WireOrder, error) {
	if v.shut.Load() && i.Command != market.CommandCancel {
		return exchange.WireOrder{}, fmt.Errorf("%w: the kill switch was turned (bot cancel-all --direct)",
			exchange.ErrNotSent)
	}
	return v.Trading.Send(ctx, i)
}

// followDirect books what the kill switch does while the bot runs, until ctx ends. From the moment
// that it sees the log until all strategies are halted only cancels leave, even where the loop
// hangs meanwhile.
func (r *runner) followDirect(ctx context.Context) {
	path, said := filepath.Join(r.plan.Config.Bot.State, killswitch.LogFile), false
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		lines, err := killswitch.Read(path)
		if err == nil && len(lines) > 0 && !r.ownSwitch.Load() {
			r.valve.shut.Store(true)
			err = r.bookRunning(ctx, path, lines)
		}
		if err != nil && !said && ctx.Err() == nil {
			r.log.Error().Err(directError(err)).Msg("what bot cancel-all --direct does cannot be booked")
		}
		said = err != nil
	}
}

// bookRunning books the new lines of the log, and moves the log away once its writer has ended.
func (r *runner) bookRunning(ctx context.Context, path string, lines []killswitch.Line) error {
	if err := r.bookLines(ctx, lines); err != nil {
		return err
	}
	log, err := killswitch.OpenExisting(path)
	if errors.Is(err, killswitch.ErrBusy) || log == nil {
		return nil // the switch still writes
	}
	if err != nil {
		return err
	}
	err = r.bookLines(ctx, log.Lines())
	if err == nil {
		var to string
		if to, err = log.Retire(); err == nil {
			r.valve.shut.Store(false)
			r.log.Warn().Str("kept_as", to).Msg("what bot cancel-all --direct did is in the books")
			err = r.loop.Do(ctx, func(at market.Time) []market.Command {
				r.journal.operate()
				return r.finish(at, log.Lines())
			})
		}
	}
	return errors.Join(err, log.Close())
}

// bookLines books lines in the loop and waits for the commit.
func (r *runner) bookLines(ctx context.Context, lines []killswitch.Line) (err error) {
	fresh := r.unbooked(lines) // only bookLines changes it while the bot runs
	if len(fresh) == 0 {
		return nil
	}
	r.log.Warn().Int("lines", len(fresh)).Msg("bot cancel-all --direct is at work: all strategies are halted")
	failed := r.loop.Do(ctx, func(at market.Time) []market.Command {
		r.journal.operate()
		commands, sales, wrong := r.book(at, lines, true)
		if err = wrong; err != nil {
			return nil
		}
		for _, s := range sales {
			if s.until != 0 {
				r.loop.Adopted(s.id, s.until)
			} else {
				r.loop.QueryOrder(s.id)
			}
		}
		return commands
	})
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	var h *killswitch.Holdings
	// the turn that booked is committed
	if err := r.loop.Inspect(ctx, func(at market.Time) { h = r.holdings(at) }); err != nil {
		return err
	}
	return r.writeHoldings(h)
}

// openWait is how long the switch waits while a bot books the log.
const openWait = 5 * time.Second

// OpenSwitchLog opens the kill switch's log for writing.
func OpenSwitchLog(path string) (log *killswitch.Log, err error) {
	for began := time.Now(); ; time.Sleep(followEvery) {
		if log, err = killswitch.Open(path); !errors.Is(err, killswitch.ErrBusy) || time.Since(began) > openWait {
			return log, err
		}
	}
}
