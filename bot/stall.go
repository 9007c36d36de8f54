package bot

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
	stallAfter = time.Second     // a callback that takes longer is named
	stallGrace = 2 * time.Second // for an interrupted run to end in good order
)

// stall names the callback of a backtest that does not return. Only the end of the process ends
// such a callback.
type stall struct {
	out  io.Writer
	seen atomic.Pointer[backtest.Watched] // the pass under way
}

// stuckError ends a run with a callback that did not return.
type stuckError struct{ error }

// watch sets the pass under way.
func (s *stall) watch(w backtest.Watched) { s.seen.Store(&w) }

// guard runs work and returns its error. Meanwhile it names callbacks that do not return. After the
// end of ctx, work has stallGrace to return; then guard returns without it, so that the process can
// end.
func (s *stall) guard(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	ticks := time.NewTicker(stallAfter / 4)
	defer ticks.Stop()
	var last engine.Call
	began, named := time.Now(), false
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return s.leave(ctx, done)
		case <-ticks.C:
		}
		call, name, is := s.now()
		if !is || call != last {
			last, began, named = call, time.Now(), false
		} else if !named && time.Since(began) >= stallAfter {
			named = true
			fmt.Fprintf(s.out, "strategy %s has not returned from %s at %s for a second; the run waits for it, and "+
				"Ctrl-C ends the process\n", name, call.Kind, call.At)
		}
	}
}

// now is the callback under way.
func (s *stall) now() (call engine.Call, name string, is bool) {
	w := s.seen.Load()
	if w == nil {
		return call, "", false
	}
	if call, is = w.Callback.Now(); !is {
		return call, "", false
	}
	return call, w.Name(call.Strategy), true
}

// leave waits stallGrace for an interrupted run.
func (s *stall) leave(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-time.After(stallGrace):
	}
	call, name, is := s.now()
	if !is {
		return stuckError{errors.New(
			"interrupted; the run did not end in time, and files named .tmp may be left of it")}
	}
	return stuckError{fmt.Errorf(
		"interrupted while strategy %s was in %s at %s and did not return; temporary files of the run may be left: %w",
		name, call.Kind, call.At, context.Cause(ctx))}
}
