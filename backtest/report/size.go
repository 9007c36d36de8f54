package report

import "math"

// bySize yields the places of trips, the largest profits and losses first, and of equal ones the
// first. It is a heap: of many trips the few largest are wanted.
type bySize []sized

// sized is a trip in the heap.
type sized struct {
	size  float64
	place int
}

func newBySize(list []*kept) bySize {
	h := make(bySize, len(list))
	for i, k := range list {
		h[i] = sized{math.Abs(k.Profit), i}
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
	return h
}

// next takes the place of the largest trip that is left; there must be one.
func (h *bySize) next() int {
	all := *h
	first, last := all[0], len(all)-1
	all[0] = all[last]
	*h = all[:last]
	h.sink(0)
	return first.place
}

// sink moves an entry down to where none below it is larger.
func (h bySize) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

func (a sized) before(b sized) bool { return a.size > b.size || a.size == b.size && a.place < b.place }
