package goroutine_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/goroutine"
)

func TestGoroutinesHaveNamesOfTheirOwn(t *testing.T) {
	own, others := goroutine.Current(), make(map[goroutine.ID]bool)
	require.NotZero(t, own)
	names, release := make(chan goroutine.ID), make(chan struct{})
	for range 100 {
		go func() {
			names <- goroutine.Current()
			<-release
		}()
	}
	for range 100 {
		others[<-names] = true
	}
	close(release)
	require.Len(t, others, 100)
	require.False(t, others[own])
	grow(1000)
	require.Equal(t, own, goroutine.Current(), "a stack that moved changes nothing")
}

func grow(n int) (sum int) {
	var block [512]int
	if n > 0 {
		block[n%512] = grow(n - 1)
	}
	return block[n%512] + n
}

func TestACallThatEndsItsGoroutineHasNotReturned(t *testing.T) {
	require.True(t, goroutine.Call(func() {}))
	require.False(t, goroutine.Call(runtime.Goexit))
	require.PanicsWithValue(t, "caught", func() {
		defer func() {
			require.Contains(t, recover(), "broken\n\ngoroutine")
			panic("caught")
		}()
		goroutine.Call(func() { panic("broken") })
	})
}

func BenchmarkCurrent(b *testing.B) {
	for b.Loop() {
		goroutine.Current()
	}
}
