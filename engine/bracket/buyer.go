package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
)

// KeepOpen keeps the bracket of an entry open until Finish: a tactic sends more orders that buy for
// it.
func (s *Set) KeepOpen(entry market.OrderID) {
	if b := s.of(entry); b != nil {
		s.touch(b)
		b.more = true
	}
}

// Continue notes that a later order of a tactic buys for the bracket of an entry.
func (s *Set) Continue(entry, order market.OrderID) {
	if b := s.of(entry); b != nil && b.entry == entry {
		s.touch(b)
		if o := s.orders.Own(b.buyer); o.Over() {
			delete(s.entryOf, b.buyer)
		}
		b.buyer = max(b.buyer, order)
		s.entryOf[order] = entry
	}
}

// Finish tells the bracket of an entry that all orders of its tactic have ended, and no more
// follow.
func (s *Set) Finish(entry market.OrderID) {
	if b := s.of(entry); b != nil && b.more {
		s.touch(b)
		b.more, b.closed = false, true
		s.settle(b)
	}
}

// buyers are the later orders of a bracket's tactic.
func (s *brackets) buyers(b *bracket) []market.OrderID {
	if b.buyer == 0 {
		return nil
	}
	return append(s.orders.Buyers(b.entry), b.buyer)
}
