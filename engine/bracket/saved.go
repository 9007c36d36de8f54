package bracket

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Saved is a bracket, in whatever phase, as an engine's snapshot holds it: strategy and market by name, amounts in the units
// that the account is saved with.
type Saved struct {
	Entry    market.OrderID `json:"entry"`
	Strategy string         `json:"strategy"`
	Market   string         `json:"market"`
	Stop     market.Price   `json:"stop,omitzero"`
	Target   market.Price   `json:"target,omitzero"`
	Keep     market.Leg     `json:"keep,omitzero"`
	Amount   market.Qty     `json:"amount,omitzero"` // bought and not yet sold
	Exit     market.OrderID `json:"exit,omitzero"`   // at the venue or on its way
	Leg      market.Leg     `json:"leg,omitzero"`    // the leg that the exit is, or is to be next
	Swapping bool           `json:"swapping,omitzero"`
	Closed   bool           `json:"closed,omitzero"` // the entry can fill no more
	Bare     market.Time    `json:"bare,omitzero"`   // since when Amount has no exit at the venue
	Failures int            `json:"failures,omitzero"`
	Thin     bool           `json:"thin,omitzero"`
}

// Changed reports whether the brackets differ from those that were there at the last MarkSaved.
func (s *Set) Changed() bool { return !slices.Equal(s.saved, s.all) }

// MarkSaved notes that the brackets are durable as they are now.
func (s *Set) MarkSaved() { s.saved = append(s.saved[:0], s.all...) }

// Save returns the brackets, with the names of strategies by StrategyID − 1.
func (s *Set) Save(names []string) (all []Saved) {
	for i := range s.all {
		b := &s.all[i]
		all = append(all, Saved{
			Entry: b.entry, Strategy: names[b.strategy-1], Market: s.catalog.Market(b.market).Name,
			Stop: b.levels.Stop, Target: b.levels.Target, Keep: b.levels.Keep, Amount: b.amount, Exit: b.exit, Leg: b.leg,
			Swapping: b.swapping, Closed: b.closed, Bare: b.bare, Failures: b.failures, Thin: b.thin,
		})
	}
	return all
}

// Restore takes over what was saved of a set without brackets. last is the last order of the engine, unprotected what
// Unprotected was. An error names the bracket and what does not fit to the account or the config.
func (s *Set) Restore(all []Saved, names []string, last market.OrderID, unprotected market.Duration) error {
	s.unprotected = unprotected
	for i := range all {
		if err := s.restore(&all[i], names, last); err != nil {
			return fmt.Errorf("bracket %d: %w", all[i].Entry, err)
		}
	}
	s.watchAll()
	return nil
}

func (s *Set) restore(from *Saved, names []string, last market.OrderID) error {
	seat, m := slices.Index(names, from.Strategy), s.catalog.MarketNamed(from.Market)
	switch {
	case seat < 0:
		return fmt.Errorf("strategy %q is gone; take it back into the config", from.Strategy)
	case m == nil:
		return fmt.Errorf("market %q is gone", from.Market)
	case from.Entry <= 0 || from.Entry > last || from.Exit > last:
		return fmt.Errorf("the last order was %d, and its exit is %d", last, from.Exit)
	case from.Exit != 0 && s.orders.Own(from.Exit) == nil:
		return fmt.Errorf("its exit %d is not open: engine and account were not saved together", from.Exit)
	case from.Keep > market.KeepTarget || from.Leg > market.KeepTarget:
		return fmt.Errorf("keeps %d and has %d of two exits", from.Keep, from.Leg)
	}
	s.all = append(s.all, bracket{
		entry: from.Entry, strategy: market.StrategyID(seat + 1), market: m.ID,
		levels: market.Bracket{Stop: from.Stop, Target: from.Target, Keep: from.Keep},
		amount: from.Amount, exit: from.Exit, leg: from.Leg, swapping: from.Swapping, closed: from.Closed,
		bare: from.Bare, failures: from.Failures, thin: from.Thin,
	})
	return nil
}
