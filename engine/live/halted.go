package live

import (
	"time"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
)

// retry is when something is tried again, at growing intervals.
type retry struct {
	next market.Time
	wait market.Duration
}

// later sets the next time: soon at first, or where nothing is left to try. After a try it is twice
// as long, a minute at most.
func (r *retry) later(now market.Time, left, tried bool) {
	if !left || r.wait == 0 {
		r.wait = firstWait
	} else if tried {
		r.wait = min(2*r.wait, market.Duration(time.Minute))
	}
	r.next = now.Add(r.wait)
}

// endHalted cancels orders of halted strategies again, at growing intervals. A halt cancels once;
// that cancel may have been lost, have outlived its window in a ban, or have met a halted market.
func (l *Loop) endHalted() {
	if l.halted.next > l.now {
		return
	}
	var a engine.Answer
	if l.Engine.HaltedOpen() {
		a = l.input(&market.Input{Kind: market.InputCancelHalted})
	}
	l.halted.later(l.now, a.Left > 0, len(a.Commands) > 0)
}
