package engine

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// gathering is the group of candles that a strategy is waiting for.
type gathering struct {
	handler strategy.GroupHandler // nil: the strategy wants none
	group   strategy.Group        // End is 0 while no candle of the next group has come
	since   market.Time           // arrival of its first candle
	done    market.Time           // End of the newest group that was handed over
}

// gather adds the candles of an event to the groups of the strategies that have had them, and hands
// over the groups that are whole.
func (e *Engine) gather(candles []market.Candle) {
	for i := range candles {
		c := &candles[i]
		for _, s := range e.receivers(c) {
			g := &s.gathering
			end := c.End()
			if g.handler == nil || c.Interval != s.Intervals[0] || e.isOver(s, end) || s.hides(c) {
				continue
			}
			if g.group.End == 0 {
				g.group.End, g.since = end, e.now
				e.gathering++
			}
			if end == g.group.End {
				g.group.Candles = append(g.group.Candles, *c)
			}
		}
	}
	e.handOver(func(s *slot) bool {
		return e.wholeGroups || len(s.gathering.group.Candles) == len(s.Markets)
	})
}

// isOver reports whether a candle that closed at end comes too late for a group. While a restart
// replays candles, only strategies with a warm-up have groups.
func (e *Engine) isOver(s *slot, end market.Time) bool {
	if e.replaying {
		return !s.warms
	}
	return end <= s.gathering.done
}

// endOlder hands over the groups that a candle of a later instant ends.
func (e *Engine) endOlder(candles []market.Candle) {
	for i := range candles {
		c := &candles[i]
		e.handOver(func(s *slot) bool {
			return c.Interval == s.Intervals[0] && c.End() > s.gathering.group.End &&
				slices.Contains(s.Markets, c.Market)
		})
	}
}

// endDue hands over the groups whose wait is over.
func (e *Engine) endDue() {
	e.handOver(func(s *slot) bool { return s.gathering.since.Add(strategy.GroupGrace) <= e.now })
}

// groupsDue is the time at which the first wait for a candle ends; any is false where no group
// waits.
func (e *Engine) groupsDue() (at market.Time, any bool) {
	if e.gathering == 0 {
		return 0, false
	}
	for i := range e.slots {
		g := &e.slots[i].gathering
		if due := g.since.Add(strategy.GroupGrace); g.group.End != 0 && (!any || due < at) {
			at, any = due, true
		}
	}
	return at, any
}

// handOver calls OnCandles of the strategies whose open group has ended, in their order.
func (e *Engine) handOver(ended func(s *slot) bool) {
	for i := 0; i < len(e.slots) && e.gathering > 0; i++ {
		s := &e.slots[i]
		g := &s.gathering
		if g.group.End == 0 || !ended(s) {
			continue
		}
		g.group.Missing = g.group.Missing[:0]
		for _, m := range e.Members(s.id) {
			if _, found := g.group.In(m); !found {
				g.group.Missing = append(g.group.Missing, m)
			}
		}
		g.group.Warming = g.group.Warming[:0]
		for _, m := range s.Markets {
			if s.cold(m) {
				g.group.Warming = append(g.group.Warming, m)
			}
		}
		e.gathering--
		e.args.group, e.saves.changed = g.group, true
		g.done = max(g.done, g.group.End)
		g.group.End, g.group.Candles = 0, g.group.Candles[:0]
		e.guard(s, CallCandles)
	}
}
