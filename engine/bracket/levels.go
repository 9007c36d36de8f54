package bracket

import "github.com/tidemark-trading/tidemark/market"

// Move sets new levels for the bracket of a strategy's order, those of c.Order.Bracket; those of the resting exit become an
// update of it. found is false where the strategy has no such bracket.
func (s *Set) Move(c *market.Command) (found bool, err error) {
	b := s.of(c.Order.ID)
	if b == nil || b.strategy != c.Order.Strategy {
		return false, nil
	}
	return true, s.move(b, c.Order.Bracket)
}

func (s *Set) move(b *bracket, to market.Bracket) error {
	tick := s.catalog.Market(b.market).TickSize
	stop, target := market.CeilTo(to.Stop, tick), market.CeilTo(to.Target, tick)
	old := b.levels
	b.levels.Stop, b.levels.Target = stop, target
	s.watch(b.market)
	if b.exit == 0 || b.swapping {
		return nil
	}
	u := &s.command
	*u = market.Command{Kind: market.CommandUpdate, At: s.orders.Now()}
	u.Order.ID, u.Order.Strategy = b.exit, b.strategy
	switch {
	case b.leg == market.KeepStop && stop != old.Stop:
		u.Changed, u.Order.TriggerAmount = market.ChangeTriggerAmount, stop
	case b.leg == market.KeepTarget && target != old.Target:
		u.Changed, u.Order.Price = market.ChangePrice, target
	default:
		return nil
	}
	if err := s.orders.Update(u, false); err != nil {
		b.levels = old
		s.watch(b.market)
		return err
	}
	return nil
}
