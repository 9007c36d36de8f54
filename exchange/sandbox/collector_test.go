package sandbox

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// heapGoal returns the bytes that were alive after the latest collection, and those at which the
// next one is to be done.
func heapGoal() (live, goal uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}

// use allocates garbage and writes to it.
func use(size int) {
	used := make([]byte, size)
	for i := range used {
		used[i] = 1
	}
	runtime.KeepAlive(used)
}

// The test runs in a process of its own: what other tests have left alive would count.
func TestASmallExchangeMakesFiftyMegabytesOfGarbageBetweenCollections(t *testing.T) {
	const fresh = "TIDEMARK_FRESH_HEAP"
	if os.Getenv(fresh) == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env, child.WaitDelay = append(os.Environ(), fresh+"=1"), time.Minute
		out, err := child.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	use(8 << 20) // memory that was used and is free again, beneath what was never used
	runtime.GC()
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
