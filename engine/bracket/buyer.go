package bracket

import "github.com/tidemark-trading/tidemark/market"

// KeepOpen keeps the bracket of an entry open until Finish: a tactic sends more orders that buy for
// it.
func (s *Set) KeepOpen(entry market.OrderID) {
	if b := s.of(entry); b != nil {
		s.touch()
		b.more = true
	}
}

// Continue makes a later order of a tactic the one that buys for the bracket of an entry. The order
// before has ended.
func (s *Set) Continue(entry, order market.OrderID) {
	b := s.of(entry)
	if b == nil || b.entry != entry {
		return
	}
	s.touch()
	delete(s.entryOf, b.buyer)
	b.buyer = order
	s.entryOf[order] = entry
}

// Finish tells the bracket of an entry that no more orders follow. The present one may still buy.
func (s *Set) Finish(entry market.OrderID) {
	b := s.of(entry)
	if b == nil || !b.more {
		return
	}
	s.touch()
	b.more = false
	if o := s.orders.Own(b.buying()); o != nil && !o.State.Terminal() {
		return
	}
	b.closed = true
	s.settle(b)
}
