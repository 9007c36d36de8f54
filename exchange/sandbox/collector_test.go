package sandbox

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"
)

// heapGoal returns the bytes that were alive after the latest collection, and those at which the
// next one is to be done.
func heapGoal() (live, goal uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}

func TestASmallExchangeMakesFiftyMegabytesOfGarbageBetweenCollections(t *testing.T) {
	before, known := resident(t)
	restore := PaceCollector()
	runtime.GC()
	live, goal := heapGoal()
	after, _ := resident(t)
	restore()
	require.GreaterOrEqual(t, goal-live, uint64(50e6))
	require.LessOrEqual(t, goal-live, uint64(80e6), "what other tests have left is small")
	if known && !raced { // the race detector writes into a shadow of all memory that is allocated
		require.Less(t, after-before, int64(ballastBytes/2), "ballast takes addresses, not memory")
	}
	runtime.GC()
	live, _ = heapGoal()
	require.Less(t, live, uint64(ballastBytes), "it is gone")
}
