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

// endHalted cancels orders of halted strategies again, at growing intervals. A halt cancels once;
// that cancel may have been lost, have outlived its window in a ban, or have met a halted market.
func (l *Loop) endHalted() {
	h := &l.halted
	if l.stopped || l.failed != nil || h.next > l.now {
		return
	}
	var a engine.Answer
	if l.Engine.HaltedOpen() {
		a = l.door.Enter(&market.Input{Kind: market.InputCancelHalted, At: l.engineTime()})
	}
	if a.Left == 0 || h.wait == 0 {
		h.wait = firstWait
	} else if len(a.Commands) > 0 {
		h.wait = min(2*h.wait, market.Duration(time.Minute))
	}
	h.next = l.now.Add(h.wait)
	l.queueCommands(a.Commands)
}
