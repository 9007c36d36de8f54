package strategy

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Membership is the members of a strategy's universe from a time on, until that of the next one.
type Membership struct {
	From    market.Time
	Markets []market.ID // the best ranked first
}

// Universe lists the markets that belong to the strategy's universe now, the best ranked first. A
// strategy without a universe in its config has all of its markets. The slice is the caller's until
// its next call of Universe, which fills it anew.
//
// A strategy gets the candles of every market that is ever a member during the run, so that its
// indicators are warm when a market comes in. It can buy members alone; positions in others can be
// sold, protected and closed.
func (d *Desk) Universe() []market.ID {
	if !d.engine.Admit(d.id, "Universe") {
		return nil
	}
	d.members = append(d.members[:0], d.engine.Members(d.id)...)
	return d.members
}

// Member reports whether the market belongs to the strategy's universe now: see Desk.Universe.
func (m MarketDesk) Member() bool {
	return m.reads("Member") && slices.Contains(m.desk.engine.Members(m.desk.id), m.id)
}
