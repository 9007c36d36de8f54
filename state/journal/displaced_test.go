package journal

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// TestAFileThatGrowsIsNotCutOff asks while commits make the file longer.
func TestAFileThatGrowsIsNotCutOff(t *testing.T) {
	s := botStore(t)
	s.db.AllocSize, s.db.NoSync = 1, true // grow at each new page; the tests crash no machine
	done := make(chan struct{})
	var asked sync.WaitGroup
	ask := func() {
		for {
			if err := s.Displaced(); err != nil {
				t.Errorf("a growing file: %v", err)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	}
	for range 16 {
		asked.Go(ask)
	}
	for id := market.OrderID(1); id < 200; id++ {
		live(t, s, s.NewBatch(), id)
	}
	close(done)
	asked.Wait()
	require.NoError(t, s.Displaced())
}

func TestAFileThatIsCutOffIsSeen(t *testing.T) {
	s := botStore(t)
	live(t, s, s.NewBatch(), 1)
	require.NoError(t, s.Displaced())
	data, err := os.ReadFile(s.path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(s.path, 8192))
	require.ErrorContains(t, s.Displaced(), "was cut off to 8192 bytes")
	require.NoError(t, os.WriteFile(s.path, data, 0o600)) // the same file, whole again: closing it reads it
	require.NoError(t, s.Displaced())
}
