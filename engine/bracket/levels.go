package bracket

import "github.com/tidemark-trading/tidemark/market"

// Terms are what new levels of a bracket are checked with.
type Terms struct {
	Levels    market.Bracket // as they are
	Entry     market.OrderID // 0: it can buy no more
	Market    market.ID
	Amount    market.Qty // bought and not sold
	Untouched bool       // the entry has bought nothing yet
}

// Terms returns those of the bracket of a strategy's order. found is false where it has none.
func (s *Set) Terms(id market.StrategyID, order market.OrderID) (t Terms, found bool) {
	b := s.of(order)
	if b == nil || b.strategy != id {
		return t, false
	}
	t = Terms{Market: b.market, Levels: b.levels, Amount: b.amount, Untouched: b.untouched()}
	if !b.closed {
		t.Entry = b.entry
	}
	return t, true
}

// Move sets new levels for the bracket of an order; those of the resting exit become an update of
// it, or a swap where that leg is gone. The levels have been checked. The error is the gate's
// refusal of the update: the levels are as they were.
func (s *Set) Move(order market.OrderID, stop, target market.Price) error {
	b := s.of(order)
	old := b.levels
	b.levels.Stop, b.levels.Target = stop, target
	switch {
	case b.swapping:
	case b.exit == 0:
		b.leg, b.next, b.spurned = firstLeg(b.levels), 0, 0
		s.settle(b)
		return nil
	case b.level(b.leg) == 0:
		b.swapping, b.stands, b.leg = true, false, other(b.leg)
		s.orders.Cancel(b.exit, false)
	default:
		if err := s.moveExit(b, old); err != nil {
			b.levels = old
			s.watch(b.market)
			return err
		}
	}
	s.watch(b.market)
	return nil
}

// moveExit asks for the change of the resting exit that a new level needs.
func (s *Set) moveExit(b *bracket, old market.Bracket) error {
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
