package engine

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Members are the markets of a strategy's universe at the present time; without a universe, all of
// its markets.
func (e *Engine) Members(id market.StrategyID) []market.ID {
	s := &e.slots[id-1]
	if s.Universe == nil {
		return s.Markets
	}
	for s.members < len(s.Universe) && s.Universe[s.members].From <= e.now {
		s.members++
	}
	if s.members == 0 {
		return nil
	}
	return s.Universe[s.members-1].Markets
}

// SetMembers gives a strategy with a universe other members from a time on, until the next call.
func (e acts) SetMembers(id market.StrategyID, next strategy.Membership) {
	s := &e.slots[id-1]
	e.Members(id) // moves on to those of the present
	present := s.Universe[max(0, s.members-1):s.members]
	s.Universe, s.members = append(slices.Clone(present), next), len(present)
}

// Universe are the members of a strategy's universe from the present time on; nil: it has none.
func (e *Engine) Universe(id market.StrategyID) []strategy.Membership {
	s := &e.slots[id-1]
	if s.Universe == nil {
		return nil
	}
	e.Members(id) // moves on to those of the present
	return slices.Clone(s.Universe[max(0, s.members-1):])
}

// outside reports whether a market does not belong to a strategy's universe.
func (e *Engine) outside(id market.StrategyID, m market.ID) bool {
	return e.slots[id-1].Universe != nil && !slices.Contains(e.Members(id), m)
}

// buysOutside reports whether a command buys in a market that does not belong to its strategy's
// universe.
func (e *Engine) buysOutside(id market.StrategyID, c *market.Command) bool {
	return c.Order.Side == market.Buy && e.outside(id, c.Order.Market)
}

// Delisted ends the brackets, tactics and waiting orders of a market whose trading has ended for
// good; base stays where it is. The commands, cancels of their exits, are valid until the next
// Step.
func (e acts) Delisted(m market.ID) []market.Command {
	e.begin(e.now)
	e.brackets.EndIn(m)
	for i := range e.slots {
		e.EndTactics(e.slots[i].id, m)
		e.replaces.DropIn(e.slots[i].id, m, true, "trading in the market has ended")
	}
	e.notifySent()
	return e.out
}
