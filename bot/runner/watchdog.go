package runner

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/engine"
)

// The patience of the watchdog with a strategy's callback.
const (
	dogEvery   = 100 * time.Millisecond
	blockAfter = time.Second      // then the log, the metrics, status and health name it
	alertAfter = 10 * time.Second // then persons are told, and /healthz fails
)

// blockage is a strategy that has not returned from a callback.
type blockage struct {
	Strategy string
	Callback string
	Since    time.Time
}

// text says so at a time, for a person.
func (b *blockage) text(now time.Time) string {
	return fmt.Sprintf("strategy %s blocks in %s since %s", b.Strategy, b.Callback,
		now.Sub(b.Since).Truncate(time.Second))
}

// watchdog sees from beside the loop which callback of a strategy does not return. Go cannot end
// it; it is named instead.
type watchdog struct {
	r       *runner
	cell    atomic.Pointer[engine.Callback] // nil: there is no engine yet
	now     func() time.Time
	seen    engine.Call // the watchdog's goroutine alone
	since   time.Time   // when it was first seen
	alerted bool
	blocked atomic.Pointer[blockage] // nil: no callback takes long

	mu      sync.Mutex
	waiting map[*context.CancelFunc]bool // of those who wait for the loop
}

func newWatchdog(r *runner) *watchdog { return &watchdog{r: r, now: time.Now} }

// run looks until ctx ends.
func (d *watchdog) run(ctx context.Context) {
	ticker := time.NewTicker(dogEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			d.look()
		case <-ctx.Done():
			return
		}
	}
}

// look compares the callback under way with that of the last look.
func (d *watchdog) look() {
	now := d.now()
	var call engine.Call
	in := false
	if cell := d.cell.Load(); cell != nil {
		call, in = cell.Now()
	}
	if !in || call != d.seen {
		d.over(now)
		d.seen, d.since = call, now
		return
	}
	if now.Sub(d.since) < blockAfter {
		return
	}
	b := d.blocked.Load()
	if b == nil {
		b = &blockage{Strategy: d.r.nameOf(call.Strategy), Callback: call.Kind.String(), Since: d.since}
		d.mu.Lock()
		d.blocked.Store(b)
		for cancel := range d.waiting {
			(*cancel)()
		}
		d.mu.Unlock()
		d.r.log.Warn().Str("strategy", b.Strategy).Str("callback", b.Callback).
			Msg("a strategy blocks: nothing is traded until its callback returns")
		d.r.watch.blocked(b, true)
	}
	if now.Sub(d.since) >= alertAfter && !d.alerted {
		d.alerted = true
		d.r.watch.tell(alert.Blocked, "%s: nothing is traded; bot cancel-all --direct cancels without it", b.text(now))
	}
}

// over notes that a callback that blocked has returned.
func (d *watchdog) over(now time.Time) {
	b := d.blocked.Swap(nil)
	if b == nil {
		return
	}
	d.alerted = false
	d.r.log.Warn().Str("strategy", b.Strategy).Str("callback", b.Callback).
		Stringer("took", now.Sub(b.Since).Truncate(time.Millisecond)).Msg("the strategy's callback has returned")
	d.r.watch.blocked(b, false)
}

// blockage is the strategy that blocks now, nil where none does. Any goroutine may ask, also of a
// nil watchdog.
func (d *watchdog) blockage() *blockage {
	if d == nil {
		return nil
	}
	return d.blocked.Load()
}

// waits calls cancel when a strategy blocks, or does already, until forget is called. A nil
// watchdog calls nothing.
func (d *watchdog) waits(cancel context.CancelFunc) (forget func()) {
	if d == nil {
		return func() {}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.blocked.Load() != nil {
		cancel()
	}
	if d.waiting == nil {
		d.waiting = map[*context.CancelFunc]bool{}
	}
	d.waiting[&cancel] = true
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.waiting, &cancel)
	}
}

// blockedError is why the loop does not answer.
type blockedError struct{ text string }

// Error names strategy and callback, and the way out.
func (b blockedError) Error() string {
	return b.text + ": the bot's loop does not answer; bot cancel-all --direct -c CONFIG cancels its orders without it"
}
