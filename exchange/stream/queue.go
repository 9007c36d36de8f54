package stream

import (
	"context"
	"sync"
)

// poke is a signal; several that nothing has heard yet are one.
type poke chan struct{}

func (p poke) send() {
	select {
	case p <- struct{}{}:
	default:
	}
}

// queue has the events that wait to be handed on, in order. It is safe for concurrent use.
type queue[T any] struct {
	mu      sync.Mutex // guards waiting
	waiting []T
	wake    poke
}

func newQueue[T any]() queue[T] { return queue[T]{wake: make(poke, 1)} }

// put adds one, unless so many wait already, and reports whether it did.
func (q *queue[T]) put(one T, most int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= most {
		return false
	}
	q.waiting = append(q.waiting, one)
	q.wake.send()
	return true
}

// run hands all on until ctx ends.
func (q *queue[T]) run(ctx context.Context, on func(T)) {
	var taken []T
	for {
		select {
		case <-q.wake:
		case <-ctx.Done():
			return
		}
		q.mu.Lock()
		taken, q.waiting = q.waiting, taken[:0]
		q.mu.Unlock()
		for i := 0; i < len(taken) && ctx.Err() == nil; i++ {
			on(taken[i])
		}
	}
}

// hand sends one to a channel, unless ctx ends before.
func hand[T any](ctx context.Context, to chan<- T, one T) {
	select {
	case to <- one:
	case <-ctx.Done():
	}
}
