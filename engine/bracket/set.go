// Package bracket keeps the exits of positions: which of a bracket's two exits rests at the venue,
// when they are swapped, how large they are, and how long a position had none. It sends nothing
// itself: it asks the engine through Orders. Start at Set; follow.go answers reports, attempt.go
// places, price.go answers prices, levels.go moves levels.
package bracket

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Orders is what brackets need of an engine. inPath says that the command acts inside the path of a
// candle under way, not at the next open: it was attached to the entry before.
type Orders interface {
	// Last is the latest price of a market, 0 before the first.
	Last(m market.ID) market.Price
	// Own returns an own order of which something is expected, open or not, or nil.
	Own(id market.OrderID) *state.Order
	// Place asks for an order; the engine copies it. It returns the order's id, or why the gate
	// refused.
	Place(c *market.Command, inPath bool) (market.OrderID, error)
	// Update asks for a change of an open order, or returns why the gate refused.
	Update(c *market.Command, inPath bool) error
	// Cancel asks for an open order to end. Behind a write in flight the cancel waits for the
	// answer.
	Cancel(id market.OrderID, inPath bool)
}

// Set is all brackets of an engine. It is a plain value owned by the engine's goroutine.
type Set struct {
	orders  Orders
	catalog *market.Catalog
	clock   *market.Time // arrival of the event in hand
	all     []bracket
	watches []market.Watch // by market
	before  []bracket      // as they were before the callback under way
	saved   []bracket      // as they were when they were saved last
	command market.Command // reused: a pointer to a local through an interface would allocate on every ask

	news, spare []strategy.Unprotected
	// by cause, without what brackets that are bare now have not counted
	unprotected [strategy.CauseEarlier + 1]market.Duration
}

// New returns a set without brackets. clock is the engine's time: the arrival of the event in hand.
func New(catalog *market.Catalog, clock *market.Time, orders Orders) *Set {
	return &Set{orders: orders, catalog: catalog, clock: clock, watches: make([]market.Watch, len(catalog.Markets())+1)}
}

func (s *Set) now() market.Time { return *s.clock }

// Len is the number of brackets.
func (s *Set) Len() int { return len(s.all) }

// Busy reports whether there are brackets, or news of those that have ended.
func (s *Set) Busy() bool { return len(s.all)+len(s.news) > 0 }

// Watches returns the nearest prices that brackets wait for, by market.ID. The slice is the set's
// own and changes.
func (s *Set) Watches() []market.Watch { return s.watches }

// hasLevels reports whether there is a stop or a target.
func hasLevels(levels market.Bracket) bool { return levels.Stop != 0 || levels.Target != 0 }

// Open takes in an entry that was sent with exits attached.
func (s *Set) Open(o *market.Order) {
	if !hasLevels(o.Bracket) {
		return
	}
	s.all = append(s.all, bracket{entry: o.ID, strategy: o.Strategy, market: o.Market, levels: o.Bracket,
		leg: firstLeg(o.Bracket)})
}

// Protect opens a bracket over base that is held already, under a name of its own: one whose entry
// has filled. Where no exit can be placed, the refusal is returned, and there is no bracket.
func (s *Set) Protect(name market.OrderID, id market.StrategyID, m market.ID, amount market.Qty,
	levels market.Bracket) error {
	s.all = append(s.all, bracket{
		entry: name, strategy: id, market: m, levels: levels, leg: firstLeg(levels), amount: amount, closed: true,
	})
	b, news := &s.all[len(s.all)-1], len(s.news)
	if err := s.attempt(b, false); b.exit == 0 {
		s.news = s.news[:news] // the refusal says it
		s.remove(b)
		return err
	}
	s.watch(m)
	return nil
}

// Covered is the base of a strategy in a market that brackets are over.
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

// of returns the bracket whose entry or exit an order is, or nil.
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

// EndAll ends the brackets of a strategy, 0 being all, whatever their phase.
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
		o.Bracket = market.Bracket{} // what it buys from now on is not protected
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

// Mark notes how the brackets stand before a callback, for Rollback.
func (s *Set) Mark() {
	if len(s.all)+len(s.before) > 0 {
		s.before = append(s.before[:0], s.all...)
	}
}

// Rollback puts the brackets back to what they were at the last Mark, and calls keep with every
// exit that is to stay.
func (s *Set) Rollback(keep func(exit market.OrderID)) {
	s.all = append(s.all[:0], s.before...)
	for i := range s.all {
		if b := &s.all[i]; !b.swapping {
			keep(b.exit)
		}
	}
	s.watchAll()
}
