package console

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestOneBarCoversAllPathsAndLeavesNothing(t *testing.T) {
	var screen bytes.Buffer
	quiet, cancel := context.WithCancel(t.Context())
	b := &Bar{screen: &screen, quiet: quiet, from: 100, to: 200, runs: 3}
	b.Reach(150)
	require.Empty(t, screen.String(), "a short run has no bar")
	cancel()
	for _, step := range []struct {
		at      market.Time
		percent int64
	}{
		{160, 20},
		{199, 33},
		{100, 33}, // the second path begins
		{175, 58},
		{100, 66},
		{199, 99},
		{200, 99}, // the end is for end
	} {
		b.Reach(step.at)
		require.Equal(t, step.percent, int64(b.bar.State().CurrentPercent*100+0.5), "at %d", step.at)
	}
	b.End()
	b.End()
	(&Bar{}).Reach(50) // no terminal: nothing to draw on
	lines := strings.Split(screen.String(), "\r")
	require.Empty(t, strings.TrimSpace(lines[len(lines)-1]+lines[len(lines)-2]), "%q", screen.String())
}
