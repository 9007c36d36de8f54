package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/engine"
)

const (
	slowAfter  = time.Second     // a callback that takes longer is named
	stopWithin = 2 * time.Second // for an interrupted run to end in good order
)

// hangGuard names the callback of a backtest, or of the backtests of a search, that does not
// return, and lets an interrupted process end in spite of it: nothing else ends the callback.
type hangGuard struct {
	Out  io.Writer
	Left string // a sentence about the files that an interrupted run leaves

	mutex sync.Mutex
	seen  map[int][]runningPass // the passes under way, by goroutine
}

// runningPass is a run of a backtest that is under way.
type runningPass struct {
	watched backtest.Watched
	of      string // the set of a search; empty: the backtest has one runningPass
}

// stuckError ends a run with a callback that did not return.
type stuckError struct{ error }

// Watch sets the runningPass under way.
func (g *hangGuard) Watch(w backtest.Watched) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.seen = map[int][]runningPass{0: {{watched: w}}}
}

// WatchSet adds a runningPass of a search, over a set, which a goroutine begins; nil: those of the
// goroutine have ended.
func (g *hangGuard) WatchSet(goroutine int, set string, w *backtest.Watched) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.seen == nil {
		g.seen = map[int][]runningPass{}
	}
	if w == nil {
		delete(g.seen, goroutine)
		return
	}
	g.seen[goroutine] = append(g.seen[goroutine], runningPass{*w, " of " + set})
}

// Run runs work and returns its error. Meanwhile it names callbacks that do not return. After the
// end of ctx, work has stopWithin to return; then Run returns without it, so that the process can
// end.
func (g *hangGuard) Run(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	ticks := time.NewTicker(slowAfter / 4)
	defer ticks.Stop()
	last := map[runningCall]time.Time{} // when a call was seen first; zero: it was named
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return g.leave(ctx, done)
		case <-ticks.C:
		}
		now := map[runningCall]time.Time{}
		for _, c := range g.now() {
			began, seen := last[c]
			switch {
			case !seen:
				began = time.Now()
			case !began.IsZero() && time.Since(began) >= slowAfter:
				began = time.Time{}
				fmt.Fprintf(g.Out, "strategy %s has not returned from %s at %s for a second; the run waits for it, "+
					"and Ctrl-C ends the process\n", c.name, c.call.Kind, c.call.At)
			}
			now[c] = began
		}
		last = now
	}
}

// runningCall is a callback under way.
type runningCall struct {
	goroutine int
	call      engine.Call
	name      string // of the strategy, and its set
}

// now are the callbacks under way.
func (g *hangGuard) now() (all []runningCall) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, goroutine := range slices.Sorted(maps.Keys(g.seen)) {
		for _, p := range g.seen[goroutine] {
			if call, is := p.watched.Callback.Now(); is {
				all = append(all, runningCall{goroutine, call, p.watched.Name(call.Strategy) + p.of})
			}
		}
	}
	return all
}

// leave waits stopWithin for an interrupted run.
func (g *hangGuard) leave(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-time.After(stopWithin):
	}
	all := g.now()
	if len(all) == 0 {
		return stuckError{errors.New("interrupted; the run did not end in time; " + g.Left)}
	}
	c := all[0]
	return stuckError{fmt.Errorf(
		"interrupted while strategy %s was in %s at %s and did not return; %s: %w",
		c.name, c.call.Kind, c.call.At, g.Left, context.Cause(ctx))}
}
