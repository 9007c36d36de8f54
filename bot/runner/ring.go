package runner

import (
	"slices"
	"sync/atomic"
)

// ringPart is the number of values of a part of a ring.
const ringPart = 256

// ring keeps the latest values of a series, at least most of them once there are so many. One
// goroutine adds; any other may read beside it, and none waits for another.
type ring[T any] struct {
	most  int
	parts atomic.Pointer[[]*ringValues[T]] // oldest first; the list is never changed
}

// ringValues is a part of a ring. What used counts is never changed.
type ringValues[T any] struct {
	used   atomic.Int32
	values [ringPart]T
}

func newTape[T any](most int) *ring[T] { return &ring[T]{most: most} }

// add appends a value.
func (t *ring[T]) add(value T) {
	var last *ringValues[T]
	if parts := t.parts.Load(); parts != nil {
		last = (*parts)[len(*parts)-1]
	}
	if last == nil || last.used.Load() == ringPart {
		last = t.grow()
	}
	n := last.used.Load()
	last.values[n] = value
	last.used.Store(n + 1)
}

// grow adds an empty part, and leaves out the oldest one if the others have enough.
func (t *ring[T]) grow() *ringValues[T] {
	next, last := []*ringValues[T]{}, &ringValues[T]{}
	if parts := t.parts.Load(); parts != nil {
		next = *parts
	}
	if (len(next)-1)*ringPart >= t.most {
		next = next[1:]
	}
	next = append(slices.Clone(next), last)
	t.parts.Store(&next)
	return last
}

// all are the values so far, oldest first, at most the latest most.
func (t *ring[T]) all() (values []T) {
	parts := t.parts.Load()
	if parts == nil {
		return nil
	}
	values = make([]T, 0, len(*parts)*ringPart)
	for _, part := range *parts {
		values = append(values, part.values[:part.used.Load()]...)
	}
	return values[max(0, len(values)-t.most):]
}
