package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Terms are what new levels of a bracket are checked against.
type Terms struct {
	Levels    market.Bracket // the present ones
	Entry     market.OrderID // 0: it can buy no more
	Market    market.ID
	Amount    market.Qty // bought and not sold
	Untouched bool       // the entry has bought nothing yet
	Follow    strategy.Follow
}

// Terms returns the terms of the bracket of a strategy's order; false: it has none.
func (s *Set) Terms(id market.StrategyID, order market.OrderID) (t Terms, found bool) {
	b := s.of(order)
	if b == nil || b.strategy != id {
		return t, false
	}
	t = Terms{Market: b.market, Levels: b.levels, Amount: b.amount, Untouched: b.untouched(), Follow: b.Follow}
	if !b.closed {
		t.Entry = b.buying()
	}
	return t, true
}

// SetLevels sets checked levels for the bracket of an order. The resting exit is updated, or
// swapped where its leg is removed. The error is the gate's refusal of the update: the levels stay
// as they were.
func (s *Set) SetLevels(order market.OrderID, stop, target market.Price) error {
	b := s.of(order)
	s.touch(b)
	old := b.levels
	b.levels.Stop, b.levels.Target, b.withdrawn = stop, target, false
	switch {
	case b.swapping:
	case b.exit == 0:
		b.leg, b.Next, b.RefusedLegs = firstLeg(b.levels), 0, 0
		s.settle(b)
		return nil
	case b.level(b.leg) == 0:
		b.swapping, b.standIn, b.leg = true, false, other(b.leg)
		s.orders.Cancel(b.exit, false)
	default:
		if err := s.updateExit(b, old); err != nil {
			b.levels = old
			s.rewatch(b)
			return err
		}
	}
	s.rewatch(b)
	return nil
}

// updateExit updates the resting exit to a new level.
func (s *Set) updateExit(b *bracket, old market.Bracket) error {
	u := &s.command
	*u = market.Command{Kind: market.CommandUpdate, At: s.now()}
	u.Order.ID, u.Order.Strategy = b.exit, b.strategy
	switch {
	case b.leg == market.KeepStop && b.levels.Stop != old.Stop:
		u.Changed, u.Order.TriggerAmount = market.ChangeTriggerAmount, b.levels.Stop
	case b.leg == market.KeepTarget && b.levels.Target != old.Target:
		u.Changed, u.Order.Price = market.ChangePrice, b.levels.Target
	default:
		return nil
	}
	return s.orders.Update(u, false)
}
