package recording

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Thin keeps every event from the time on, and at most the one segment before.
func TestThinDeletesTheSegmentsOfBeforeATime(t *testing.T) {
	events := marketDay(12_000, rand.New(rand.NewPCG(3, 3)))
	for _, from := range []int{0, 5_000, 11_999} {
		dir := t.TempDir()
		for at := 0; at < len(events); at += 1_000 { // a segment is full after some blocks
			recorded(t, dir, Options{Limit: 64 << 10}, events[at:at+1_000])
		}
		before, err := Describe(dir)
		require.NoError(t, err)
		whole, first, _ := replayed(t, dir, 0)
		removed, err := Thin(dir, events[from].At)
		require.NoError(t, err)
		after, err := Describe(dir)
		require.NoError(t, err)
		require.Equal(t, before.Bytes, after.Bytes+removed)
		require.Equal(t, before.Last, after.Last)
		have, numbers, lost := replayed(t, dir, 0)
		require.Empty(t, lost)
		requireEvents(t, whole[numbers[0]-first[0]:], have)
		if from > int(first[0])-1 {
			require.LessOrEqual(t, int(numbers[0])-1, from)
		}
		if segments, err := listSegments(dir); err == nil && len(segments) > 1 {
			require.Greater(t, int(segments[1].first)-1, from-1, "the segments before have nothing from then on")
		}
	}
	removed, err := Thin(filepath.Join(t.TempDir(), "none"), 5)
	require.NoError(t, err)
	require.Zero(t, removed)
}
