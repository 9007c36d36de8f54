package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Follow moves on the bracket that a reported order belongs to. fresh are the fills that the account had not seen before. What
// the bracket asks for acts inside the path under way.
func (s *Set) Follow(o *state.Order, r *market.Report, fresh []market.Fill) {
	b := s.of(o.ID)
	if b == nil {
		return
	}
	if o.ID == b.entry {
		b.closed = b.closed || o.State.Terminal()
		for i := range fresh {
			b.amount += fresh[i].Amount
		}
	} else {
		for i := range fresh {
			b.amount -= fresh[i].Amount
			b.failures, b.thin = 0, false
		}
		if r != nil && r.Exec == market.ExecRejected {
			b.takeBack(&o.Order, r.Command)
		}
		s.followExit(b, o)
	}
	s.settle(b)
}

// followExit deals with the end of an exit: swapped, filled, refused, or ended by somebody else.
func (s *Set) followExit(b *bracket, o *state.Order) {
	if !o.State.Terminal() {
		s.protected(b)
		b.thin = false // somebody may want to buy again by the time that the other exit is due
		return
	}
	b.exit = 0
	switch {
	case b.amount <= 0 || b.swapping || o.FilledAmount > 0:
	case o.State == state.Expired:
		b.thin = true
	case !s.cancelEntry(b):
		b.failures++
	}
	b.swapping = false
}

// cancelEntry stops the entry from buying on once an exit has come to nothing: what still rests of it is in the way of a stop
// (self-trade prevention cancels the stop), and a falling market would go on filling it. It reports whether there was
// something to cancel.
func (s *Set) cancelEntry(b *bracket) bool {
	o := s.orders.Own(b.entry)
	if b.closed || o == nil || o.InFlight != 0 {
		return false
	}
	s.orders.Cancel(b.entry, true)
	return true
}

// settle places, enlarges or ends: it brings the venue to what the bracket is.
func (s *Set) settle(b *bracket) {
	switch {
	case b.amount <= 0 && b.closed && b.exit == 0, b.failures >= maxFailures:
		s.remove(b)
		return
	case b.amount > 0 && b.exit == 0:
		_ = s.placeExit(b, b.failures == 0 && !b.thin) // a second try waits for the next open: the same moment would refuse it again
	case b.amount > 0 && b.exit != 0 && !b.swapping:
		s.enlarge(b)
	}
	s.watch(b.market)
}

// placeExit sends the bracket's next exit: a stopLoss or limit that rests, or after a swap the order that takes the price it
// has reached. inPath lets it act inside the path under way. A refusal ends the bracket, unless its entry may still fill:
// what was bought so far may be too little to sell.
func (s *Set) placeExit(b *bracket, inPath bool) error {
	if b.bare == 0 {
		b.bare = s.orders.Now()
	}
	c := &s.command
	*c = market.Command{Kind: market.CommandPlace, At: s.orders.Now(), Attached: true}
	o := &c.Order
	o.Strategy, o.Market, o.Side, o.Amount = b.strategy, b.market, market.Sell, b.amount
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	if b.leg == market.KeepTarget {
		o.Type, o.Price, o.Tag = market.TypeLimit, b.levels.Target, "target"
	} else {
		o.Type, o.Tag = market.TypeStopLoss, "stop"
		o.TriggerAmount, o.TriggerType, o.TriggerReference = b.levels.Stop, market.TriggerPrice, market.LastTrade
	}
	id, err := s.orders.Place(c, inPath)
	if err != nil {
		if b.closed {
			s.remove(b)
		}
		return err
	}
	b.exit = id
	return nil
}

// protected ends the count of the time without an exit.
func (s *Set) protected(b *bracket) {
	if b.bare != 0 {
		s.unprotected += s.orders.Now().Sub(b.bare)
		b.bare = 0
	}
}

// enlarge brings the resting exit to the amount that the entry has bought by now.
func (s *Set) enlarge(b *bracket) {
	o := s.orders.Own(b.exit)
	if o == nil || o.InFlight != 0 || o.AmountRemaining == b.amount {
		return
	}
	c := &s.command
	*c = market.Command{Kind: market.CommandUpdate, Changed: market.ChangeAmount, At: s.orders.Now(), Attached: true}
	c.Order.ID, c.Order.Strategy = b.exit, b.strategy
	c.Order.Amount = o.FilledAmount + b.amount
	_ = s.orders.Update(c, true) // a refusal leaves the smaller exit and is counted
}
