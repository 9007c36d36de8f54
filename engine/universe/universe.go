package universe

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Set is the universes of all strategies of an engine. It is a plain value owned by the engine's
// goroutine.
type Set struct {
	clock *market.Time // arrival of the current event
	all   []universe   // by strategy
	any   bool         // a strategy has a universe
}

// universe is the markets of a strategy.
type universe struct {
	markets []market.ID           // all that it trades
	over    []strategy.Membership // its members over time; nil: all markets at all times
	begun   int                   // how many of over have begun
	read    []market.ID           // markets that it only reads
}

// New is a set without strategies. clock is the engine's.
func New(clock *market.Time) *Set { return &Set{clock: clock} }

// Begin adds the next strategy. over is its members over time, oldest first; nil: all of its
// markets at all times. read are markets that it only reads.
func (s *Set) Begin(markets []market.ID, over []strategy.Membership, read []market.ID) {
	s.all = append(s.all, universe{markets: markets, over: over, read: read})
	s.any = s.any || over != nil || len(read) > 0
}

// Any reports whether a strategy has a universe, or markets that it only reads.
func (s *Set) Any() bool { return s.any }

// Members are the markets of a strategy's universe at the present time; without a universe, all of
// its markets.
func (s *Set) Members(id market.StrategyID) []market.ID {
	u := &s.all[id-1]
	if u.over == nil {
		return u.markets
	}
	for u.begun < len(u.over) && u.over[u.begun].From <= *s.clock {
		u.begun++
	}
	if u.begun == 0 {
		return nil
	}
	return u.over[u.begun-1].Markets
}

// Change gives a strategy with a universe other members from a time on, until the next call.
func (s *Set) Change(id market.StrategyID, next strategy.Membership) {
	u := &s.all[id-1]
	s.Members(id) // moves on to those of the present
	present := u.over[max(0, u.begun-1):u.begun]
	u.over, u.begun = append(slices.Clone(present), next), len(present)
}

// Ahead are the members of a strategy's universe from the present time on; nil: it has none.
func (s *Set) Ahead(id market.StrategyID) []strategy.Membership {
	u := &s.all[id-1]
	if u.over == nil {
		return nil
	}
	s.Members(id) // moves on to those of the present
	return slices.Clone(u.over[max(0, u.begun-1):])
}

// Outside reports whether a market does not belong to a strategy's universe, or is only read.
func (s *Set) Outside(id market.StrategyID, m market.ID) bool {
	u := &s.all[id-1]
	return u.over != nil && !slices.Contains(s.Members(id), m) || slices.Contains(u.read, m)
}

// Bars reports whether a command buys in a market that does not belong to its strategy's universe.
func (s *Set) Bars(id market.StrategyID, c *market.Command) bool {
	return c.Order.Side == market.Buy && s.Outside(id, c.Order.Market)
}
