package indicator

import "fmt"

// Batch makes an indicator of a function over a slice, such as those of TA-Lib: it keeps the last n
// values and calls the function over them at each push. The last element of the answer is the
// value. That costs the whole function at each push.
type Batch struct {
	f            func([]float64) []float64
	window, lent []float64 // the last values in order; what f is given
	seen         int       // up to n
	value        float64
}

// NewBatch returns the indicator of a function over the last n values: choose n as large as the
// function needs to forget its start. It panics where n is below 1.
//
// The function gets the values oldest first. It may change the slice, and must not keep it. A
// function with variables of its own (a closure) makes --check-lookahead slow, not wrong; a
// function with its lengths as constants does not.
func NewBatch(n int, f func([]float64) []float64) Batch {
	return Batch{f: f, window: make([]float64, window(n)), lent: make([]float64, n)}
}

// Push takes the next value. From the n-th on it calls the function, and panics where the answer is
// empty.
func (b *Batch) Push(x float64) {
	n := len(b.window)
	copy(b.window, b.window[1:])
	b.window[n-1] = x
	if b.seen = min(b.seen+1, n); b.seen < n {
		return
	}
	copy(b.lent, b.window)
	answer := b.f(b.lent)
	if len(answer) == 0 {
		panic(fmt.Sprintf("indicator: the function of a batch of %d values returned nothing", n))
	}
	b.value = answer[len(answer)-1]
}

// Ready reports whether n values were pushed.
func (b *Batch) Ready() bool { return b.seen == len(b.window) }

// Value is the last element of the function's answer.
func (b *Batch) Value() float64 { return b.value }

// Warmup is n.
func (b *Batch) Warmup() int { return len(b.window) }
