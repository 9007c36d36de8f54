package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/internal/lives"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// rooms are events of a life that need a place of their own, by actor and verb. What they change at
// the bot's process or at its answers is in their files.
var rooms = map[string]func(*player, *lives.Event){
	"machine clock":    (*player).setsClock,
	"machine disk":     (*player).fillsDisk,
	"machine restore":  (*player).restoresBackup,
	"operator twice":   (*player).stopsTwice,
	"operator adopt":   (*player).adopts,
	"operator sell":    (*player).sellsDirectly,
	"exchange candles": (*player).misreports,
	"exchange lie":     (*player).lies,
	"exchange delist":  (*player).delists,
	"owner dust":       (*player).leavesDust,
}

// setsClock sets the clock of the machine, forward or back. Its uptime, by which a bot reckons,
// goes on; a bot that starts afterwards knows the exchange's time anew.
func (p *player) setsClock(e *lives.Event) {
	p.around.blinds(10 * time.Second)
	p.steps.Add(int64(e.Span(0)))
}

// fullDisk is a journal whose disk can become full: the next commit has the room that was set aside
// for a stop.
type fullDisk struct {
	live.Journal
	full atomic.Bool
}

func (d *fullDisk) Commit(at market.Time) error {
	err := d.Journal.Commit(at)
	if err == nil && d.full.Load() {
		return fmt.Errorf("%w: %w", live.ErrLastRoom, syscall.ENOSPC)
	}
	return err
}

// fillsDisk fills the disk. The bot ends by itself and leaves its exits.
func (p *player) fillsDisk(e *lives.Event) {
	dead, _ := p.take().(*inside)
	if dead == nil {
		return
	}
	p.done.Go(func() {
		asked := time.Now()
		before, covered := p.covers()
		dead.disk.full.Store(true)
		select {
		case failed := <-dead.done:
			p.says("the disk is full: %v", failed)
			dead.leaveAndClose(failed)
			p.guard.Holds("P46", errors.Is(failed, live.ErrLastRoom), "%s: the bot on a full disk ended with: %v",
				time.Since(p.begun), failed)
		case <-time.After(3 * time.Minute):
			p.guard.Holds("P46", false, "%s: the disk is full, and the bot goes on", time.Since(p.begun))
			dead.kill()
			dead.bury()
		}
		p.asks.Wait()
		p.exitsStay("P46", "a full disk", asked, before, covered)
		p.mu.Lock()
		p.bot = nil
		p.mu.Unlock()
		time.Sleep(e.Span(0))
		p.begin()
		p.free()
	})
}

// covers is the ledger, and whether each position in it has its exit.
func (p *player) covers() (before map[string]lives.Ledger, covered bool) {
	before, covered = p.reads(), true
	for name, l := range before {
		covered = covered && (p.guard.Setup.Bare(name) || p.guard.Bare(name, &l) <= l.Dust)
	}
	return before, covered
}

// exitsStay wants each position that had its exit before an end to have it afterwards. A purchase
// of that moment may have none, and a Close under way, which is told. The owner may take an exit
// away at that moment, too.
func (p *player) exitsStay(promise, what string, asked time.Time, before map[string]lives.Ledger, covered bool) {
	if !covered || p.life.Setup.Takes || p.around.isBlind() || !p.around.untouched(asked) ||
		strings.Contains(p.log.Tail(40), "no exit until the next start") {
		return
	}
	for name, l := range p.reads() {
		if l.Bought == before[name].Bought && !p.guard.Setup.Bare(name) {
			p.guard.Holds(promise, p.guard.Bare(name, &l) <= l.Dust, "%s %s: %s left %d without its exit",
				time.Since(p.begun), name, what, p.guard.Bare(name, &l))
		}
	}
}

// restoresBackup copies the state file, lets time pass, kills the bot and puts the copy in place of
// the file. Orders of runs that began in between are foreign to the bot from then on.
func (p *player) restoresBackup(e *lives.Event) {
	p.mu.Lock()
	of, _ := p.bot.(*inside)
	if of == nil || p.busy {
		p.mu.Unlock()
		return
	}
	backup := filepath.Join(filepath.Dir(p.Folder), fmt.Sprint("backup", e.At, ".db"))
	err := of.store.Backup(backup)
	known, config, run := p.every(), p.config, of.run
	again := p.ledger.bots(known)
	runs, failed := of.store.Runs()
	p.mu.Unlock()
	require.NoError(p.T, errors.Join(err, failed))
	if !slices.ContainsFunc(runs, func(r journal.RunRow) bool { return r.Run == run }) {
		run = uuid.Nil // the copy does not know it yet: trading has not begun
	}
	p.around.lasts(e.Span(0) + time.Minute) // a loop may take half of that to hear of its end
	p.done.Go(func() {
		time.Sleep(e.Span(0))
		later := p.every() // on paper: its exchange ends with the bot
		if !p.kills() {
			return
		}
		time.Sleep(2 * time.Second) // what was on its way arrives
		if !p.life.Setup.Paper {
			later = p.every()
		}
		for id := range known {
			delete(later, id)
		}
		for number := market.OrderID(1); number < 10_000 && len(later) > 0; number++ {
			id := market.ClientOrderID(run, number)
			if _, is := later[id]; is { // its name proves it
				again = append(again, id)
				delete(later, id)
			}
		}
		lines, err := killswitch.Read(filepath.Join(p.Folder, killswitch.LogFile))
		require.NoError(p.T, err)
		for i := range lines { // the start books them
			if _, is := later[lines[i].Client]; is && lines[i].Kind == killswitch.KindSell {
				again = append(again, lines[i].Client)
				delete(later, lines[i].Client)
			}
		}
		p.guard.Restored()
		p.around.with(func(a *around) { a.restored = true })
		p.around.blinds(0)
		p.cannotRead() // the copy is from before trades there
		p.ledger.disown(later, again)
		if holdings, err := killswitch.ReadHoldings(p.Folder); err == nil && holdings != nil {
			p.newer = holdings.AtMS
		}
		require.NoError(p.T, os.RemoveAll(filepath.Join(p.Folder, statedir.RecordingFolder)))
		require.NoError(p.T, os.Rename(backup, filepath.Join(p.Folder, statedir.StateFile)))
		p.config = config
		p.begin()
		p.free()
	})
}

// bots are those of orders that are the bot's.
func (l *ledgerOfLife) bots(orders map[uuid.UUID]exchange.WireOrder) (ids []uuid.UUID) {
	for id := range orders {
		if !l.owns(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// disown makes orders the owner's: what they bought is not the bot's. again are those that the copy
// knows or proves as the bot's, also where an older copy did not.
func (l *ledgerOfLife) disown(orders map[uuid.UUID]exchange.WireOrder, again []uuid.UUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range again {
		delete(l.owner, id)
	}
	for id := range orders {
		l.owner[id] = true
	}
	clear(l.from)
	clear(l.trades)
	clear(l.sums)
}

// stopsTwice presses Ctrl-C twice, so long after each other.
func (p *player) stopsTwice(e *lives.Event) {
	p.done.Go(func() {
		within := e.Span(0)
		if p.partsBy(func(dead body) error {
			if of, is := dead.(*inside); is {
				return of.endTwice(within)
			}
			return dead.end()
		}, false) {
			time.Sleep(e.Span(1))
			p.begin()
			p.free()
		}
	})
}

// endTwice is end with a second Ctrl-C. A bot that ends before its loop leaves what a process
// leaves.
func (b *inside) endTwice(within time.Duration) error {
	b.Again = func() (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(within, cancel)
		return ctx, func() { timer.Stop(); cancel() }
	}
	b.stop()
	ended, loop := make(chan error, 1), make(chan struct{})
	go func() {
		err := <-b.done
		close(loop)
		ended <- err
		b.done <- err
	}()
	failed := b.awaitStop(ended)
	select {
	case <-loop:
		b.leaveAndClose(failed)
	default:
		b.kill()
		b.bury()
	}
	return failed
}

var strategyHead = regexp.MustCompile(`\[strategies\.\w+\]`)

// adopts stops the bot, gives a strategy another name, and lets it take over from the one before.
func (p *player) adopts(e *lives.Event) {
	p.done.Go(func() {
		if !p.stops() {
			return
		}
		was := strings.Trim(strings.TrimPrefix(strategyHead.FindString(p.config), "[strategies."), "]")
		now := was + "x"
		p.rename(was, now)
		report, err := p.adopt(was, now, nil)
		p.says("bot adopt %s %s: %+v %v", was, now, report, err)
		p.guard.Holds("P27", err == nil || strings.Contains(err.Error(), "repeat this"), "%s: bot adopt %s %s: %v",
			time.Since(p.begun), was, now, err)
		if err != nil {
			p.rename(now, was)
		}
		time.Sleep(e.Span(0))
		p.begin()
		p.free()
	})
}
