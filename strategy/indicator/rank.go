package indicator

import "slices"

// Rank is where the last value of a line stands among its last n, from 0 (the lowest) to 100 (the
// highest): any line, such as an ATR.
type Rank struct {
	ring   ring[float64]
	sorted []float64 // the values of the ring, rising
	value  float64
}

// NewRank returns a rank among n values. It panics where n is below 2.
func NewRank(n int) Rank {
	return Rank{ring: newRing[float64](atLeast(2, n)), sorted: make([]float64, 0, n)}
}

// Push takes the next value. It looks for its place in log n steps and moves the values behind it.
func (r *Rank) Push(x float64) {
	full := r.ring.full
	if old := r.ring.push(x); full {
		at, _ := slices.BinarySearch(r.sorted, old)
		r.sorted = slices.Delete(r.sorted, at, at+1)
	}
	below, _ := slices.BinarySearch(r.sorted, x)
	equal := 0
	for below+equal < len(r.sorted) && r.sorted[below+equal] == x {
		equal++
	}
	r.sorted = slices.Insert(r.sorted, below, x)
	r.value = percent(float64(below)+float64(equal)/2, float64(len(r.sorted)-1))
}

// Ready reports whether n values were pushed.
func (r *Rank) Ready() bool { return r.ring.full }

// Value is the part of the other n−1 values that lie below the last one, in percent; equal ones
// count half.
func (r *Rank) Value() float64 { return r.value }

// Warmup is n.
func (r *Rank) Warmup() int { return len(r.ring.list) }
