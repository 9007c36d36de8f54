// Package hang names the callback of a backtest or a search that does not return, and lets an
// interrupted process end in spite of it.
package hang

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

// Guard names the callback of a backtest, or of the backtests of a search, that does not return.
// Only the end of the process ends it.
type Guard struct {
	Out  io.Writer
	Left string // a sentence about the files that an interrupted run leaves

	mutex sync.Mutex
	seen  map[int][]pass // the passes under way, by goroutine
}

// pass is a run of a backtest that is under way.
type pass struct {
	watched backtest.Watched
	of      string // the set of a search; empty: the backtest has one pass
}

// StuckError ends a run with a callback that did not return.
type StuckError struct{ error }

// Watch sets the pass under way.
func (g *Guard) Watch(w backtest.Watched) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.seen = map[int][]pass{0: {{watched: w}}}
}

// WatchSet adds a pass of a search, over a set, which a goroutine begins; nil: those of the
// goroutine have ended.
func (g *Guard) WatchSet(goroutine int, set string, w *backtest.Watched) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.seen == nil {
		g.seen = map[int][]pass{}
	}
	if w == nil {
		delete(g.seen, goroutine)
		return
	}
	g.seen[goroutine] = append(g.seen[goroutine], pass{*w, " of " + set})
}

// Run runs work and returns its error. Meanwhile it names callbacks that do not return. After the
// end of ctx, work has stopWithin to return; then Run returns without it, so that the process can
// end.
func (g *Guard) Run(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	ticks := time.NewTicker(slowAfter / 4)
	defer ticks.Stop()
	last := map[calling]time.Time{} // when a call was seen first; zero: it was named
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return g.leave(ctx, done)
		case <-ticks.C:
		}
		now := map[calling]time.Time{}
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

// calling is a callback under way.
type calling struct {
	goroutine int
	call      engine.Call
	name      string // of the strategy, and its set
}

// now are the callbacks under way.
func (g *Guard) now() (all []calling) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, goroutine := range slices.Sorted(maps.Keys(g.seen)) {
		for _, p := range g.seen[goroutine] {
			if call, is := p.watched.Callback.Now(); is {
				all = append(all, calling{goroutine, call, p.watched.Name(call.Strategy) + p.of})
			}
		}
	}
	return all
}

// leave waits stopWithin for an interrupted run.
func (g *Guard) leave(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-time.After(stopWithin):
	}
	all := g.now()
	if len(all) == 0 {
		return StuckError{errors.New("interrupted; the run did not end in time; " + g.Left)}
	}
	c := all[0]
	return StuckError{fmt.Errorf(
		"interrupted while strategy %s was in %s at %s and did not return; %s: %w",
		c.name, c.call.Kind, c.call.At, g.Left, context.Cause(ctx))}
}
