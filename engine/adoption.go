package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/engine/rebalance"
	"github.com/tidemark-trading/tidemark/engine/replace"
	"github.com/tidemark-trading/tidemark/engine/tactic"
	"github.com/tidemark-trading/tidemark/engine/timer"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// Adoption is everything that one strategy of saved parts leaves to another: positions, orders,
// exits, tactics, money of its own, the use of limits.
type Adoption struct {
	From, To string
	Own      bool // To has an allocation of its own
	// Memory: To is From under another name. It gets the strategy's own saved state, its timers,
	// its halt and what waits for its orders. Without it, To keeps its own, or begins as a new
	// strategy.
	Memory bool
}

// Adopted lists the changes of a HandOver.
type Adopted struct {
	state.Handed
	Parts    map[string][]byte // that differ; nil: the part is gone
	Now      market.Time       // of the engine when it was saved
	Brackets int
	Tactics  int
	Closes   int
	Memory   bool   // as of Adoption
	Halt     string // the reason of a halt that went over; empty: none
	Ended    string // the reason of a halt that ended with From
	Dropped  int    // timers, and buys that waited for sells, that are gone
}

// ErrKnown says that a strategy cannot be renamed to one that the saved parts know.
var ErrKnown = errors.New("the state file knows it already")

// HandOver hands over in saved parts. It changes nothing that is saved: Adopted has the parts that
// are to be written, all of them or none. A Restore of them continues every order, exit and tactic
// of From as one of To.
func (e *Adoption) HandOver(saved map[string][]byte) (*Adopted, error) {
	s, err := engineOf(saved)
	if err != nil {
		return nil, err
	}
	if _, known := s.Strategies[e.To]; known && e.Memory {
		return nil, fmt.Errorf("strategy %s: %w", e.To, ErrKnown)
	}
	account := state.Handover{From: e.From, To: e.To, Own: e.Own}
	handed, err := account.Apply(saved[PartAccount], savedOrders(saved))
	if err != nil {
		return nil, err
	}
	b := &Adopted{Handed: *handed, Memory: e.Memory, Parts: map[string][]byte{PartAccount: handed.Account}, Now: s.Now}
	for id, text := range handed.Texts {
		b.Parts[fmt.Sprintf("%s%012d", PartOrder, id)] = text
	}
	if err := e.gate(b, saved[PartGate]); err != nil {
		return nil, err
	}
	if err := e.engine(b, &s); err != nil {
		return nil, err
	}
	e.memory(b, &s, saved)
	b.Parts[PartEngine], err = market.AppendSaved(nil, savedVersion, &s)
	return b, err
}

// gate hands over the use of limits.
func (e *Adoption) gate(b *Adopted, saved []byte) (err error) {
	h := risk.Handover{From: e.From, To: e.To, Halt: e.Memory, Stayed: map[string]market.Value{}, Markets: b.Markets}
	for i := range b.Positions {
		h.Stayed[b.Positions[i].Market] = b.Positions[i].Realised
	}
	b.Parts[PartGate], err = h.Apply(saved)
	return err
}

// engine hands over exits, Closes and tactics.
func (e *Adoption) engine(b *Adopted, s *SavedEngine) error {
	closes := func(by, in string) bool {
		return slices.ContainsFunc(s.Closes, func(c bracket.SavedClose) bool {
			return c.Strategy == by && c.Market == in
		})
	}
	for i := range s.Closes {
		if c := &s.Closes[i]; c.Strategy == e.From && closes(e.To, c.Market) {
			return fmt.Errorf("%s and %s both leave their positions in %s, and one of these Closes has to end first; "+
				"put %s into the config again, let the bot run until it has ended, stop it, and repeat this", e.From,
				e.To, c.Market, e.From)
		}
	}
	b.Closes = give(e, true, &s.Closes, func(c *bracket.SavedClose) *string { return &c.Strategy })
	b.Brackets = give(e, true, &s.Brackets, func(b *bracket.Saved) *string { return &b.Strategy })
	b.Tactics = give(e, true, &s.Tactics, func(t *tactic.Saved) *string { return &t.Strategy })
	return nil
}

// memory hands over what From knew, or lets it go.
func (e *Adoption) memory(b *Adopted, s *SavedEngine, saved map[string][]byte) {
	slot, part := s.Strategies[e.From], PartStrategy+e.From
	delete(s.Strategies, e.From)
	own, has := saved[part]
	if has {
		b.Parts[part] = nil
	}
	if e.Memory {
		s.Strategies[e.To] = slot
		if has {
			b.Parts[PartStrategy+e.To] = own
		}
	}
	gone := give(e, e.Memory, &s.Timers, func(t *timer.Saved) *string { return &t.Strategy }) +
		give(e, e.Memory, &s.Rebalances, func(r *rebalance.Saved) *string { return &r.Strategy }) +
		give(e, e.Memory, &s.Departures, func(d *bracket.SavedDeparture) *string { return &d.Strategy }) +
		give(e, e.Memory, &s.Replaces, func(r *replace.Saved) *string { return &r.Strategy })
	var reason string
	for _, h := range s.Halts {
		if h.Strategy == e.From && slot.Halted { // else it was resumed
			reason = h.Reason
		}
	}
	give(e, e.Memory, &s.Halts, func(h *SavedHalt) *string { return &h.Strategy })
	if e.Memory {
		b.Halt = reason
	} else {
		b.Ended, b.Dropped = reason, gone
	}
}

// give renames the rows of From, or drops them where they do not go over. It returns their number.
func give[R any](e *Adoption, over bool, rows *[]R, name func(*R) *string) (n int) {
	left := (*rows)[:0]
	for _, row := range *rows {
		if of := name(&row); *of == e.From {
			n++
			if !over {
				continue
			}
			*of = e.To
		}
		left = append(left, row)
	}
	*rows = left
	return n
}
