package indicator

import "fmt"

// ring holds the last values of a window.
type ring[T any] struct {
	list []T
	at   int // where the next value goes: the oldest one
	full bool
}

func newRing[T any](n int) ring[T] { return ring[T]{list: make([]T, window(n))} }

// push adds a value and returns the one that it replaces, the zero value while the ring fills.
func (r *ring[T]) push(x T) (old T) {
	old, r.list[r.at] = r.list[r.at], x
	if r.at++; r.at == len(r.list) {
		r.at, r.full = 0, true
	}
	return old
}

// window returns n and panics where it is below 1.
func window(n int) int { return atLeast(1, n) }

// atLeast returns n and panics where it is below least.
func atLeast(least, n int) int {
	if n < least {
		panic(fmt.Sprintf("indicator: a window of %d", n))
	}
	return n
}
