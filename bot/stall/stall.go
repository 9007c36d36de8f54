// Package stall names the callback of a backtest that does not return, and lets an interrupted
// process end in spite of it.
package stall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/engine"
)

const (
	slowAfter  = time.Second     // a callback that takes longer is named
	stopWithin = 2 * time.Second // for an interrupted run to end in good order
)

// Guard names the callback of a backtest that does not return. Only the end of the process ends it.
type Guard struct {
	Out  io.Writer
	seen atomic.Pointer[backtest.Watched] // the pass under way
}

// StuckError ends a run with a callback that did not return.
type StuckError struct{ error }

// Watch sets the pass under way.
func (g *Guard) Watch(w backtest.Watched) { g.seen.Store(&w) }

// Run runs work and returns its error. Meanwhile it names callbacks that do not return. After the
// end of ctx, work has stopWithin to return; then Run returns without it, so that the process can
// end.
func (g *Guard) Run(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	ticks := time.NewTicker(slowAfter / 4)
	defer ticks.Stop()
	var last engine.Call
	began, named := time.Now(), false
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return g.leave(ctx, done)
		case <-ticks.C:
		}
		call, name, is := g.now()
		if !is || call != last {
			last, began, named = call, time.Now(), false
		} else if !named && time.Since(began) >= slowAfter {
			named = true
			fmt.Fprintf(g.Out, "strategy %s has not returned from %s at %s for a second; the run waits for it, and "+
				"Ctrl-C ends the process\n", name, call.Kind, call.At)
		}
	}
}

// now is the callback under way.
func (g *Guard) now() (call engine.Call, name string, is bool) {
	w := g.seen.Load()
	if w == nil {
		return call, "", false
	}
	if call, is = w.Callback.Now(); !is {
		return call, "", false
	}
	return call, w.Name(call.Strategy), true
}

// leave waits stopWithin for an interrupted run.
func (g *Guard) leave(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-time.After(stopWithin):
	}
	call, name, is := g.now()
	if !is {
		return StuckError{errors.New(
			"interrupted; the run did not end in time, and files named .tmp may be left of it")}
	}
	return StuckError{fmt.Errorf(
		"interrupted while strategy %s was in %s at %s and did not return; temporary files of the run may be left: %w",
		name, call.Kind, call.At, context.Cause(ctx))}
}
