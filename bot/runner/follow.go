package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/engine/live"
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

// follow books what the kill switch does while the bot runs, until ctx ends. From the moment
// that it sees the log until all strategies are halted only cancels leave, even where the loop
// hangs meanwhile.
func (b *directBooks) follow(ctx context.Context, loop *live.Loop) {
	path, said := filepath.Join(b.plan.Config.Bot.State, killswitch.LogFile), false
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		lines, err := killswitch.Read(path)
		if err == nil && len(lines) > 0 && !b.own.Load() {
			b.valve.shut.Store(true)
			err = b.bookRunning(ctx, loop, path, lines)
		}
		if err != nil && !said && ctx.Err() == nil {
			b.log.Error().Err(directError(err)).Msg("what bot cancel-all --direct does cannot be booked")
		}
		said = err != nil
	}
}

// bookRunning books the new lines of the log, and moves the log away once its writer has ended.
func (b *directBooks) bookRunning(ctx context.Context, loop *live.Loop, path string, lines []killswitch.Line) error {
	if err := b.bookLines(ctx, loop, lines); err != nil {
		return err
	}
	log, err := killswitch.OpenExisting(path)
	if errors.Is(err, killswitch.ErrBusy) || log == nil {
		return nil // the switch still writes
	}
	if err != nil {
		return err
	}
	err = b.bookLines(ctx, loop, log.Lines())
	if err == nil {
		var to string
		if to, err = log.Retire(); err == nil {
			b.valve.shut.Store(false)
			b.log.Warn().Str("kept_as", to).Msg("what bot cancel-all --direct did is in the books")
			err = loop.Do(ctx, func(at market.Time) []market.Command {
				b.journal.operate()
				return b.finish(at, log.Lines())
			})
		}
	}
	return errors.Join(err, log.Close())
}

// bookLines books lines in the loop and waits for the commit.
func (b *directBooks) bookLines(ctx context.Context, loop *live.Loop, lines []killswitch.Line) (err error) {
	fresh := b.unbooked(lines) // only bookLines changes it while the bot runs
	if len(fresh) == 0 {
		return nil
	}
	b.log.Warn().Int("lines", len(fresh)).Msg("bot cancel-all --direct is at work: all strategies are halted")
	failed := loop.Do(ctx, func(at market.Time) []market.Command {
		b.journal.operate()
		commands, sales, wrong := b.book(at, lines, true)
		if err = wrong; err != nil {
			return nil
		}
		for _, s := range sales {
			if s.until != 0 {
				loop.Adopted(s.id, s.until)
			} else {
				loop.QueryOrder(s.id)
			}
		}
		return commands
	})
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	var h *killswitch.Holdings
	// the turn that booked is committed
	if err := loop.Inspect(ctx, func(at market.Time) { h = b.holdings.now(at) }); err != nil {
		return err
	}
	return b.holdings.write(h)
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
