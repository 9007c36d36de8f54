package group

import (
	"slices"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Core is the engine as its groups see it.
type Core interface {
	port.Strategies
	// Hides reports whether a candle lies before the history of a strategy.
	Hides(id market.StrategyID, c *market.Candle) bool
	// Past reports whether a restart is showing a strategy candles from before it, and whether the
	// strategy has no use for them.
	Past(id market.StrategyID) (replaying, useless bool)
	// Members are the markets of a strategy's universe now.
	Members(id market.StrategyID) []market.ID
	// CallCandles calls OnCandles of a strategy.
	CallCandles(id market.StrategyID, g strategy.Group)
}

// Set is the groups of candles of all strategies of an engine. It is a plain value owned by the
// engine's goroutine.
type Set struct {
	core  Core
	clock *market.Time // arrival of the current event
	all   []openGroup  // by strategy
	open  int          // groups that wait for candles
	wants bool         // a strategy wants groups
	whole bool         // each event has all candles that closed at its instant
}

// openGroup is the group of candles that a strategy is waiting for.
type openGroup struct {
	wants bool           // the strategy has OnCandles
	group strategy.Group // End is 0 while no candle of the next group has come
	since market.Time    // arrival of its first candle
	done  market.Time    // End of the newest group that was handed over
}

// New is the groups of an engine's strategies, of which there are a number. clock is the engine's.
// whole: each event has all candles that closed at its instant.
func New(core Core, clock *market.Time, strategies int, whole bool) *Set {
	return &Set{core: core, clock: clock, all: make([]openGroup, strategies), whole: whole}
}

// Want says that a strategy wants groups.
func (s *Set) Want(id market.StrategyID) { s.all[id-1].wants, s.wants = true, true }

// Wanted reports whether a strategy wants groups.
func (s *Set) Wanted() bool { return s.wants }

// Open is the number of groups that wait for candles.
func (s *Set) Open() int { return s.open }

// Add adds the candles of an event to the groups of the strategies that have had them, and hands
// over the groups that are whole.
func (s *Set) Add(candles []market.Candle) {
	for i := range candles {
		c := &candles[i]
		for i := range s.all {
			id, g := market.StrategyID(i+1), &s.all[i]
			end := c.End()
			if !g.wants || c.Interval != s.core.Main(id) || !slices.Contains(s.core.Given(id), c.Market) ||
				s.over(id, end) || s.core.Hides(id, c) {
				continue
			}
			if g.group.End == 0 {
				g.group.End, g.since = end, *s.clock
				s.open++
			}
			if end == g.group.End {
				g.group.Candles = append(g.group.Candles, *c)
			}
		}
	}
	s.handOver(func(id market.StrategyID, g *openGroup) bool {
		return s.whole || len(g.group.Candles) == len(s.core.Given(id))
	})
}

// over reports whether a candle that closed at end comes too late for a group.
func (s *Set) over(id market.StrategyID, end market.Time) bool {
	if replaying, useless := s.core.Past(id); replaying {
		return useless
	}
	return end <= s.all[id-1].done
}

// EndOlder hands over the groups that a candle of a later instant ends.
func (s *Set) EndOlder(candles []market.Candle) {
	for i := range candles {
		c := &candles[i]
		s.handOver(func(id market.StrategyID, g *openGroup) bool {
			return c.Interval == s.core.Main(id) && c.End() > g.group.End &&
				slices.Contains(s.core.Given(id), c.Market)
		})
	}
}

// EndDue hands over the groups whose wait is over.
func (s *Set) EndDue() {
	s.handOver(func(_ market.StrategyID, g *openGroup) bool { return g.since.Add(strategy.GroupGrace) <= *s.clock })
}

// Due is the time at which the first wait for a candle ends; any is false where no group waits.
func (s *Set) Due() (at market.Time, any bool) {
	if s.open == 0 {
		return 0, false
	}
	for i := range s.all {
		g := &s.all[i]
		if due := g.since.Add(strategy.GroupGrace); g.group.End != 0 && (!any || due < at) {
			at, any = due, true
		}
	}
	return at, any
}

// handOver calls OnCandles of the strategies whose open group has ended, in their order.
func (s *Set) handOver(ended func(id market.StrategyID, g *openGroup) bool) {
	for i := 0; i < len(s.all) && s.open > 0; i++ {
		id, g := market.StrategyID(i+1), &s.all[i]
		if g.group.End == 0 || !ended(id, g) {
			continue
		}
		g.group.Missing = g.group.Missing[:0]
		for _, m := range s.core.Members(id) {
			if _, found := g.group.In(m); !found {
				g.group.Missing = append(g.group.Missing, m)
			}
		}
		g.group.Warming = g.group.Warming[:0]
		for _, m := range s.core.Markets(id) {
			if s.core.Cold(id, m) {
				g.group.Warming = append(g.group.Warming, m)
			}
		}
		s.open--
		s.core.Changed()
		whole := g.group
		g.done = max(g.done, g.group.End)
		g.group.End, g.group.Candles = 0, g.group.Candles[:0]
		s.core.CallCandles(id, whole)
	}
}

// Done is the end of the newest group that a strategy has had; 0: none.
func (s *Set) Done(id market.StrategyID) market.Time { return s.all[id-1].done }

// Resume goes on after the group that a strategy had before a restart.
func (s *Set) Resume(id market.StrategyID, done market.Time) {
	s.all[id-1].done = max(s.all[id-1].done, done)
}

// TakeOver continues with the group of a strategy that takes over. seen: it has seen the candles of
// the open group; otherwise the open group goes on.
func (s *Set) TakeOver(id market.StrategyID, next *Set, seen bool) {
	g, from := &s.all[id-1], &next.all[id-1]
	if s.wants = s.wants || from.wants; !seen {
		g.wants = from.wants
		return
	}
	done := g.done
	if g.group.End != 0 {
		s.open--
	}
	*g = *from
	if g.done = max(g.done, done); g.group.End != 0 {
		s.open++
	}
}
