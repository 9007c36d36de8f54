package live

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// again is something that is tried again at growing distances.
type again struct {
	next market.Time
	wait market.Duration
}

// endHalted asks once more, at growing distances, for orders of halted strategies to end. A halt
// asks once; that cancel may have been lost, outlived its window in a ban, or met a market that
// stands still.
func (l *Loop) endHalted() {
	h := &l.halted
	if l.stopped || l.failed != nil || h.next > l.now {
		return
	}
	commands, left := l.Engine.CancelHalted(l.now)
	if left == 0 || h.wait == 0 {
		h.wait = firstWait
	} else if len(commands) > 0 {
		h.wait = min(2*h.wait, market.Duration(time.Minute))
	}
	h.next = l.now.Add(h.wait)
	l.take(commands)
}
