package runner

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/engine"
)

// The limits of a strategy's callback.
const (
	watchdogEvery = 100 * time.Millisecond
	blockAfter    = time.Second      // then log, metrics, status and health name it
	alertAfter    = 10 * time.Second // then an alert is raised, and /healthz fails
)

// blockage is a strategy that has not returned from a callback.
type blockage struct {
	Strategy string
	Callback string
	Since    time.Time
}

// text is the blockage as a sentence.
func (b *blockage) text(now time.Time) string {
	return fmt.Sprintf("strategy %s blocks in %s since %s", b.Strategy, b.Callback,
		now.Sub(b.Since).Truncate(time.Second))
}

// watchdog finds, beside the loop, the callback of a strategy that does not return. Go cannot end
// it; the watchdog names it.
type watchdog struct {
	r       *runner
	cell    atomic.Pointer[engine.Callback] // nil: there is no engine yet
	now     func() time.Time
	seen    engine.Call // only the watchdog's goroutine
	since   time.Time   // when it was first seen
	alerted bool
	blocked atomic.Pointer[blockage] // nil: no callback takes long

	mu      sync.Mutex
	waiting map[*context.CancelFunc]bool // of callers that wait for the loop
}

func newWatchdog(r *runner) *watchdog { return &watchdog{r: r, now: time.Now} }

// run checks until ctx ends.
func (d *watchdog) run(ctx context.Context) {
	ticker := time.NewTicker(watchdogEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			d.check()
		case <-ctx.Done():
			return
		}
	}
}

// check compares the running callback with that of the last check.
func (d *watchdog) check() {
	now := d.now()
	var call engine.Call
	in := false
	if cell := d.cell.Load(); cell != nil {
		call, in = cell.Now()
	}
	if !in || call != d.seen {
		d.returned(now)
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
		d.r.watch.count("callbacks_blocked_total", 1, b.Strategy, b.Callback)
	}
	if now.Sub(d.since) >= alertAfter && !d.alerted {
		d.alerted = true
		d.r.watch.raise(alert.Blocked, "%s: nothing is traded; bot cancel-all --direct cancels without it", b.text(now))
	}
}

// returned clears the blockage: its callback has returned.
func (d *watchdog) returned(now time.Time) {
	b := d.blocked.Swap(nil)
	if b == nil {
		return
	}
	d.alerted = false
	d.r.log.Warn().Str("strategy", b.Strategy).Str("callback", b.Callback).
		Stringer("took", now.Sub(b.Since).Truncate(time.Millisecond)).Msg("the strategy's callback has returned")
}

// blockage is the strategy that blocks now; nil: none does. Any goroutine may call it, also on a
// nil watchdog.
func (d *watchdog) blockage() *blockage {
	if d == nil {
		return nil
	}
	return d.blocked.Load()
}

// cancelOnBlock calls cancel when a strategy blocks, or already does, until forget is called. A nil
// watchdog calls nothing.
func (d *watchdog) cancelOnBlock(cancel context.CancelFunc) (forget func()) {
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

// blockedError is the error of a query while a strategy blocks the loop.
type blockedError struct{ text string }

// Error names strategy and callback, and the remedy.
func (b blockedError) Error() string {
	return b.text + ": the bot's loop does not answer; bot cancel-all --direct -c CONFIG cancels its orders without it"
}

// blockedAge is a gauge of how long a strategy has blocked. It exists only while one does.
type blockedAge struct {
	watch *watch
	desc  *prometheus.Desc
}

func newBlockedAge(w *watch) *blockedAge {
	return &blockedAge{watch: w, desc: prometheus.NewDesc(namespace+"_callback_blocked_seconds",
		"How long a strategy has been in a callback that does not return.", []string{"strategy", "callback"}, nil)}
}

// Describe sends the description of the gauge.
func (b *blockedAge) Describe(to chan<- *prometheus.Desc) { to <- b.desc }

// Collect sends the strategy that blocks, if one does.
func (b *blockedAge) Collect(to chan<- prometheus.Metric) {
	if blocked := b.watch.blockage(); blocked != nil {
		to <- prometheus.MustNewConstMetric(b.desc, prometheus.GaugeValue, b.watch.now().Sub(blocked.Since).Seconds(),
			blocked.Strategy, blocked.Callback)
	}
}
