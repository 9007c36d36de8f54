package stats

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachNumberIsWorkedOnOnce(t *testing.T) {
	for _, workers := range []int{-1, 0, 1, 3, 64} {
		done := make([]int, 50)
		require.NoError(t, inParallel(workers, len(done), func(worker, i int) error {
			require.Less(t, worker, max(1, workers))
			done[i]++
			return nil
		}))
		for _, count := range done {
			require.Equal(t, 1, count)
		}
	}
	require.NoError(t, inParallel(4, 0, func(int, int) error { return errors.New("never called") }))
}

func TestTheErrorOfTheLowestNumberComesOut(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		var calls atomic.Int64
		err := inParallel(workers, 1000, func(_, i int) error {
			calls.Add(1)
			if i%7 == 6 {
				return fmt.Errorf("number %d", i)
			}
			return nil
		})
		require.EqualError(t, err, "number 6")
		require.Less(t, calls.Load(), int64(200), "work ends after an error")
	}
}
