package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Follow moves on the bracket that a reported order belongs to. fresh are the fills that the
// account had not counted before, r is nil where fills came alone. What the bracket asks for acts
// inside the path under way. held is what the order's strategy has of the market now: a sale beside
// the brackets leaves them less to protect.
func (s *Set) Follow(o *state.Order, r *market.Report, fresh []market.Fill, held market.Qty) {
	b := s.of(o.ID)
	if b == nil && len(fresh) > 0 && o.Side == market.Buy && hasLevels(o.Bracket) {
		s.Open(&o.Order) // an entry that was held to have come to nothing has bought after all
		b = s.of(o.ID)
	}
	switch {
	case b == nil && len(fresh) > 0 && o.Side == market.Sell:
		s.shrink(o.Strategy, o.Market, held)
		return
	case b == nil:
		return
	case o.ID == b.entry:
		b.follow(o, fresh)
	default:
		s.followExit(b, o, r, fresh)
	}
	s.settle(b)
}

// follow takes in what became of the entry.
func (b *bracket) follow(o *state.Order, fresh []market.Fill) {
	b.closed = b.closed || o.State.Terminal()
	for i := range fresh {
		b.amount += fresh[i].Amount
	}
}

func (s *Set) followExit(b *bracket, o *state.Order, r *market.Report, fresh []market.Fill) {
	for i := range fresh {
		b.amount -= fresh[i].Amount
		b.sold = true
		b.forget()
	}
	switch {
	case o.State.Terminal():
		s.ended(b, o)
		return
	case r != nil && r.Exec == market.ExecRejected:
		s.changeRefused(b, o, r.Command)
	case r != nil && r.Exec == market.ExecUpdated:
		b.forget()
	case o.State == state.Unknown:
		s.expose(b, strategy.CauseUnknown)
		return
	}
	if o.AmountRemaining < b.amount && !b.swapping && o.Booked() == o.FilledAmount {
		s.expose(b, strategy.CausePartly)
		return
	}
	s.protect(b)
	b.thin = false // buyers may be back by the time that the other exit is due
}

// changeRefused deals with a cancel or a change of the resting exit that the exchange refused.
func (s *Set) changeRefused(b *bracket, o *state.Order, command market.CommandKind) {
	swap := command == market.CommandCancel && b.swapping
	b.takeBack(&o.Order, command)
	b.fail(s.now(), 0)
	if swap && b.failures > 1 {
		b.spurned |= 1 << other(b.leg)
	}
}

// ended deals with the end of an exit: swapped, filled, refused, or ended by the exchange.
func (s *Set) ended(b *bracket, o *state.Order) {
	swapped, leg, now := b.swapping, b.leg, s.now()
	b.exit, b.swapping = 0, false
	if b.stands { // it stood in for the other leg, which is wanted still
		b.leg, b.stands = other(leg), false
	}
	switch {
	case b.amount <= 0 || o.FilledAmount > 0:
	case swapped:
		s.expose(b, strategy.CauseSwap)
	case o.State != state.Expired && s.cancelEntry(b):
		s.expose(b, strategy.CauseCancelled)
	default:
		b.thin = o.State == state.Expired
		b.fail(now, now.Sub(o.Created))
		if b.failures > 1 {
			b.spurned |= 1 << leg
		}
		s.tell(b, endCause(o), o.Code, endWords(o))
	}
}

// cancelEntry stops the entry from buying on once an exit has come to nothing: what still rests of
// it is in the way of a stop (self-trade prevention cancels the stop), and a falling market would
// go on filling it. It reports whether there was something to cancel.
func (s *Set) cancelEntry(b *bracket) bool {
	o := s.orders.Own(b.entry)
	if b.closed || o == nil || o.InFlight != 0 {
		return false
	}
	s.orders.Cancel(b.entry, true)
	return true
}

// settle brings the venue to what the bracket is: it places, enlarges, swaps back or ends.
func (s *Set) settle(b *bracket) {
	switch {
	case b.amount > 0 && b.exit == 0:
		// a second try waits for the next open: the same moment would refuse it again
		_ = s.attempt(b, b.failures == 0 || b.cause == strategy.CauseSwap)
	case b.amount > 0 && b.stands && !b.swapping && s.swappable(b):
		s.swap(b)
	case b.amount > 0 && !b.swapping:
		s.enlarge(b)
	}
	if b.done() {
		s.remove(b)
		return
	}
	s.watch(b.market)
}

// enlarge brings the resting exit to the amount that the entry has bought by now.
func (s *Set) enlarge(b *bracket) {
	o, now := s.orders.Own(b.exit), s.now()
	if o == nil || o.InFlight != 0 || o.AmountRemaining == b.amount || o.Booked() < o.FilledAmount || now < b.next {
		return
	}
	if o.AmountRemaining < b.amount {
		s.expose(b, strategy.CausePartly)
	}
	c := &s.command
	*c = market.Command{Kind: market.CommandUpdate, Changed: market.ChangeAmount, At: now, Attached: true}
	c.Order.ID, c.Order.Strategy = b.exit, b.strategy
	c.Order.Amount = o.FilledAmount + b.amount
	if err := s.orders.Update(c, true); err != nil { // the smaller exit stays
		b.fail(now, 0)
		s.tellRefused(b, strategy.CausePartly, err)
	}
}

// shrink takes back from brackets without an exit what their strategy no longer holds: it sold
// beside them.
func (s *Set) shrink(id market.StrategyID, m market.ID, held market.Qty) {
	over := s.Covered(id, m) - max(0, held)
	for i := len(s.all) - 1; i >= 0 && over > 0; i-- {
		b := &s.all[i]
		if b.strategy != id || b.market != m || b.exit != 0 {
			continue
		}
		less := min(over, b.amount)
		b.amount, over = b.amount-less, over-less
		if b.amount <= 0 {
			s.protect(b)
		}
		if b.done() {
			s.remove(b)
		}
	}
}
