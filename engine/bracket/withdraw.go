package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A person may cancel all orders, the exits of brackets too. A bracket is then withdrawn: it places
// no exit and counts as without one, until its strategy trades again.

// withdrawnText is why a withdrawn bracket has no exit.
const withdrawnText = "a person has cancelled all orders; bot resume brings its exit back"

// WithdrawAll takes the exits of all brackets from the exchange, and ends Closes and departures.
func (s *Set) WithdrawAll() {
	s.closes.all, s.departs.all = s.closes.all[:0], s.departs.all[:0]
	for i := len(s.all) - 1; i >= 0; i-- {
		s.withdraw(&s.all[i])
	}
}

// Withdraw withdraws the bracket of an exit that a person has cancelled.
func (s *Set) Withdraw(exit market.OrderID) {
	if b := s.of(exit); b != nil && b.exit == exit {
		s.withdraw(b)
	}
}

func (s *Set) withdraw(b *bracket) {
	s.touch(b)
	if c := s.closes.of(b.strategy, b.market); c != nil {
		c.free += b.leaving
	}
	b.withdrawn, b.leaving, b.reducing = true, 0, false
	switch {
	case b.exit != 0:
		s.orders.Cancel(b.exit, false)
	case b.amount > 0:
		s.report(b, strategy.CauseCancelled, 0, withdrawnText)
	}
	s.rewatch(b)
}

// Withhold withdraws the brackets of a strategy that lack their exit.
func (s *Set) Withhold(id market.StrategyID, why string) {
	for i := range s.all {
		if b := &s.all[i]; b.strategy == id && b.exit == 0 && b.amount > 0 && !b.withdrawn {
			s.touch(b)
			b.withdrawn = true
			s.report(b, strategy.CauseCancelled, 0, why)
			s.rewatch(b)
		}
	}
}

// Readmit lets the withdrawn brackets of a strategy place their exits again, with the next Retry.
func (s *Set) Readmit(id market.StrategyID) {
	for i := range s.all {
		if b := &s.all[i]; b.strategy == id && b.withdrawn {
			s.touch(b)
			b.withdrawn = false
			b.resetFailures()
		}
	}
}
