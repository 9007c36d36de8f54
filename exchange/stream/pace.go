package stream

import (
	"sync/atomic"
	"time"
)

// Silence that is never usual, and by which factor a silence must exceed the usual gap.
const (
	defaultQuiet = 10 * time.Second
	longestQuiet = 5 * time.Minute
	unusual      = 20
)

// pace is how often a channel sends. Its times are nanoseconds.
type pace struct {
	quiet time.Duration // the silence that is always usual
	gap   atomic.Int64  // between two events, on average of the latest
	next  atomic.Int64  // the silence that is told next; 0: by gap and quiet
}

// begin begins anew: a new connection may be faster or slower.
func (p *pace) begin() {
	p.gap.Store(0)
	p.next.Store(0)
}

// note takes the gap before an event.
func (p *pace) note(gap int64) {
	average := p.gap.Load()
	if average == 0 {
		average = gap
	}
	p.gap.Store(average + (gap-average)/16)
	p.next.Store(0)
}

// unusualAfter is the silence that is told next.
func (p *pace) unusualAfter() time.Duration {
	if next := p.next.Load(); next != 0 {
		return time.Duration(next)
	}
	return max(p.quiet, min(longestQuiet, unusual*time.Duration(p.gap.Load())))
}

// told notes that a silence has been told: the next time after twice as long.
func (p *pace) told(silent time.Duration) { p.next.Store(int64(silent + min(silent, longestQuiet))) }
