package research_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research"
)

// idle is a Runner that gets no group. stopped says that its context ended before todo.
type idle struct{ stopped bool }

func (w *idle) Ahead() int { return 1 }

func (w *idle) Run(ctx context.Context, todo <-chan research.Group, _ chan<- research.Done) error {
	for range todo {
	}
	w.stopped = ctx.Err() != nil
	return nil
}

// A coordinator that is killed after the last row leaves its folder to the next start, which has no
// group to run: it removes the folder when todo is closed, and must not be stopped before.
func TestARunnerIsNotStoppedAfterTheLastGroup(t *testing.T) {
	job := jobOf(t, 1500, "fast=2:4:2", "slow=5:10:5")
	_, err := research.Sweep(t.Context(), job)
	require.NoError(t, err)
	r := &idle{}
	job.Runner = r
	_, err = research.Sweep(t.Context(), job)
	require.NoError(t, err)
	require.False(t, r.stopped)
}
