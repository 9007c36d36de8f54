package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Follow updates the bracket of a reported order. fresh are the fills that the account had not
// counted before; r is nil for fills without a report. The bracket's commands act inside the
// current path. held is the strategy's present position in the market: a sale outside the brackets
// leaves them less to protect.
func (s *Set) Follow(o *state.Order, r *market.Report, fresh []market.Fill, held market.Qty) {
	b := s.of(o.ID)
	if b == nil && len(fresh) > 0 && o.Side == market.Buy && hasLevels(o.Bracket) {
		s.Open(&o.Order) // an entry that counted as failed has bought after all
		b = s.of(o.ID)
	}
	switch {
	case b == nil && len(fresh) > 0 && o.Side == market.Sell:
		s.shrink(o.Strategy, o.Market, held)
		return
	case b == nil:
		return
	}
	s.touch()
	if o.ID == b.entry {
		b.follow(o, fresh)
	} else {
		s.followExit(b, o, r, fresh)
	}
	s.settle(b)
}

// follow takes a report of the entry.
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
		b.resetFailures()
	}
	switch {
	case o.State.Terminal():
		s.ended(b, o)
		return
	case r != nil && r.Exec == market.ExecRejected:
		s.changeRefused(b, o, r.Command)
	case r != nil && r.Exec == market.ExecUpdated:
		b.resetFailures()
	case o.State == state.Unknown:
		s.expose(b, strategy.CauseUnknown)
		return
	}
	if o.AmountRemaining < b.amount && !b.swapping && o.Booked() == o.FilledAmount {
		s.expose(b, strategy.CausePartly)
		return
	}
	s.protect(b)
	b.noBuyers = false // buyers may be back when the other exit is due
}

// changeRefused handles a cancel or a change of the resting exit that the exchange refused.
func (s *Set) changeRefused(b *bracket, o *state.Order, command market.CommandKind) {
	swap := command == market.CommandCancel && b.swapping
	b.undoChange(&o.Order, command)
	b.fail(s.now(), 0)
	if swap && b.failures > 1 {
		b.refusedLegs |= 1 << other(b.leg)
	}
}

// ended handles the end of an exit: swapped, filled, refused, or ended by the exchange.
func (s *Set) ended(b *bracket, o *state.Order) {
	swapped, leg, now := b.swapping, b.leg, s.now()
	s.setExit(b, 0)
	b.swapping = false
	if b.standIn { // it stood in for the other leg, which is still wanted
		b.leg, b.standIn = other(leg), false
	}
	switch {
	case b.amount <= 0 || o.FilledAmount > 0:
	case swapped:
		s.expose(b, strategy.CauseSwap)
	case o.State != state.Expired && s.cancelEntry(b):
		s.expose(b, strategy.CauseCancelled)
	default:
		b.noBuyers = o.State == state.Expired
		b.fail(now, now.Sub(o.Created))
		if b.failures > 1 {
			b.refusedLegs |= 1 << leg
		}
		s.report(b, endCause(o), o.Code, endText(o))
	}
}

// cancelEntry stops the entry from buying more after an exit has failed: the rest of the entry is
// in the way of a stop (self-trade prevention cancels the stop), and a falling market would go on
// filling it. It reports whether it cancelled.
func (s *Set) cancelEntry(b *bracket) bool {
	o := s.orders.Own(b.entry)
	if b.closed || o == nil || o.InFlight != 0 {
		return false
	}
	s.orders.Cancel(b.entry, true)
	return true
}

// settle brings the venue in line with the bracket: it places, enlarges, swaps back or ends.
func (s *Set) settle(b *bracket) {
	switch {
	case b.amount > 0 && b.exit == 0:
		// a second attempt waits for the next open: at the same moment it would be refused again
		_ = s.attempt(b, b.failures == 0 || b.cause == strategy.CauseSwap)
	case b.amount > 0 && b.standIn && !b.swapping && s.swappable(b):
		s.swap(b)
	case b.amount > 0 && !b.swapping:
		s.enlarge(b)
	}
	if b.done() {
		s.remove(b)
		return
	}
	s.rewatch(b)
}

// enlarge updates the resting exit to the amount that the entry has bought so far.
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
		s.reportRefused(b, strategy.CausePartly, err)
	}
}

// shrink takes from brackets without an exit what their strategy has sold outside them.
func (s *Set) shrink(id market.StrategyID, m market.ID, held market.Qty) {
	over := s.Covered(id, m) - max(0, held)
	for i := len(s.all) - 1; i >= 0 && over > 0; i-- {
		b := &s.all[i]
		if b.strategy != id || b.market != m || b.exit != 0 {
			continue
		}
		s.touch()
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
