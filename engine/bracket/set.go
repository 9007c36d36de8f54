// Package bracket keeps the exits of positions: which of a bracket's two exits rests at the venue,
// when they are swapped, how large they are, and how long a position had none. It sends nothing
// itself: it calls the engine through Orders. Start at Set; follow.go handles reports, attempt.go
// places exits, price.go handles prices, levels.go changes levels.
package bracket

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Orders is the brackets' view of an engine. inPath lets a command act inside the path of the
// current candle, not at the next open, because it was attached to the entry.
type Orders interface {
	// Last is the latest price of a market, 0 before the first.
	Last(m market.ID) market.Price
	// Own returns an own order that still expects something, open or not, or nil.
	Own(id market.OrderID) *state.Order
	// Unprotect takes the exits from an own order.
	Unprotect(o *state.Order)
	// Place sends an order, which the engine copies. It returns the order's id, or the gate's
	// refusal.
	Place(c *market.Command, inPath bool) (market.OrderID, error)
	// Update changes an open order, or returns the gate's refusal.
	Update(c *market.Command, inPath bool) error
	// Cancel cancels an open order. While another write is in flight, the cancel waits.
	Cancel(id market.OrderID, inPath bool)
}

// Set is all brackets of an engine. It is a plain value owned by the engine's goroutine.
type Set struct {
	orders  Orders
	catalog *market.Catalog
	clock   *market.Time // arrival of the current event
	all     []bracket
	watches []market.Watch // by market
	marked  []bracket      // before the current callback
	saved   []bracket      // as last saved
	command market.Command // reused: a pointer to a local through an interface would allocate on every ask

	reports, spare []strategy.Unprotected
	// unprotected is by cause, without the uncounted time of bare brackets.
	unprotected [strategy.CauseEarlier + 1]market.Duration
}

// New returns a set without brackets. clock is the engine's time.
func New(catalog *market.Catalog, clock *market.Time, orders Orders) *Set {
	return &Set{orders: orders, catalog: catalog, clock: clock, watches: make([]market.Watch, len(catalog.Markets())+1)}
}

func (s *Set) now() market.Time { return *s.clock }

// Len is the number of brackets.
func (s *Set) Len() int { return len(s.all) }

// Busy reports whether there are brackets or reports.
func (s *Set) Busy() bool { return len(s.all)+len(s.reports) > 0 }

// Watches returns the nearest prices that brackets wait for, by market.ID. The slice belongs to the
// set and changes.
func (s *Set) Watches() []market.Watch { return s.watches }

// hasLevels reports whether there is a stop or a target.
func hasLevels(levels market.Bracket) bool { return levels.Stop != 0 || levels.Target != 0 }

// Open adds the bracket of an entry with exits attached.
func (s *Set) Open(o *market.Order) {
	if !hasLevels(o.Bracket) {
		return
	}
	s.all = append(s.all, bracket{entry: o.ID, strategy: o.Strategy, market: o.Market, levels: o.Bracket,
		leg: firstLeg(o.Bracket)})
}

// Protect opens a bracket, with an id of its own, over base that is held already. If no exit can be
// placed, it returns the refusal and opens none.
func (s *Set) Protect(name market.OrderID, id market.StrategyID, m market.ID, amount market.Qty,
	levels market.Bracket) error {
	s.all = append(s.all, bracket{
		entry: name, strategy: id, market: m, levels: levels, leg: firstLeg(levels), amount: amount, closed: true,
	})
	b, news := &s.all[len(s.all)-1], len(s.reports)
	if err := s.attempt(b, false); b.exit == 0 {
		s.reports = s.reports[:news] // the refusal says it
		s.remove(b)
		return err
	}
	s.watch(m)
	return nil
}

// Covered is the amount of a strategy's brackets in a market.
func (s *Set) Covered(id market.StrategyID, m market.ID) (amount market.Qty) {
	for i := range s.all {
		if b := &s.all[i]; b.strategy == id && b.market == m {
			amount += b.amount
		}
	}
	return amount
}

// IsExit reports whether an order is the exit of a bracket.
func (s *Set) IsExit(id market.OrderID) bool {
	b := s.of(id)
	return b != nil && b.exit == id
}

// Swapping reports whether an order is an exit that its bracket swaps for the other.
func (s *Set) Swapping(id market.OrderID) bool {
	b := s.of(id)
	return b != nil && b.exit == id && b.swapping
}

// of returns the bracket with this entry or exit, or nil.
func (s *Set) of(id market.OrderID) *bracket {
	for i := range s.all {
		if s.all[i].entry == id || s.all[i].exit == id {
			return &s.all[i]
		}
	}
	return nil
}

// End ends the bracket of an order at its strategy's wish, unless the entry has bought nothing yet:
// the exit is cancelled and not replaced.
func (s *Set) End(id market.StrategyID, order market.OrderID) {
	if b := s.of(order); b != nil && b.strategy == id && !b.untouched() {
		s.dissolve(b)
	}
}

// Dissolve ends the bracket of an order, if it has one: the exit is cancelled and not replaced.
func (s *Set) Dissolve(order market.OrderID) {
	if b := s.of(order); b != nil {
		s.dissolve(b)
	}
}

// EndAll ends the brackets of a strategy, 0 for all strategies, in any phase.
func (s *Set) EndAll(id market.StrategyID) {
	for i := len(s.all) - 1; i >= 0; i-- {
		if b := &s.all[i]; id == 0 || b.strategy == id {
			s.dissolve(b)
		}
	}
}

func (s *Set) dissolve(b *bracket) {
	exit := b.exit
	if o := s.orders.Own(b.entry); o != nil {
		s.orders.Unprotect(o)
	}
	s.remove(b)
	if exit != 0 {
		s.orders.Cancel(exit, false)
	}
}

func (s *Set) remove(b *bracket) {
	m := b.market
	at := slices.IndexFunc(s.all, func(x bracket) bool { return x.entry == b.entry })
	s.protect(b)
	s.all = slices.Delete(s.all, at, at+1)
	s.watch(m)
}

// Mark keeps the brackets before a callback, for Rollback.
func (s *Set) Mark() {
	if len(s.all)+len(s.marked) > 0 {
		s.marked = append(s.marked[:0], s.all...)
	}
}

// Rollback restores the brackets of the last Mark, and calls keep with every exit that stays.
func (s *Set) Rollback(keep func(exit market.OrderID)) {
	s.all = append(s.all[:0], s.marked...)
	for i := range s.all {
		if b := &s.all[i]; !b.swapping {
			keep(b.exit)
		}
	}
	s.watchAll()
}
