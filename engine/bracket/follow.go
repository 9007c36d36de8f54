package bracket

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Follow updates the bracket of a reported order. fresh are the fills that the account had not
// counted before; r is nil for fills without a report. The bracket's commands act inside the
// current path. held is the strategy's present position in the market: a sale outside the brackets
// leaves them less to protect.
func (s *Set) Follow(o *state.Order, r *market.Report, fresh []market.Fill, held market.Qty) {
	if len(s.closes.all) == 0 {
		s.follow(o, r, fresh, held)
		return
	}
	if c := s.closes.selling(o.ID); c != nil {
		s.followSale(c, o, fresh)
		return
	}
	s.closes.count(o, fresh, s.of(o.ID) != nil)
	s.answer(o, r)
	s.closeRefused(o, r)
	s.follow(o, r, fresh, held)
	s.clip(o.Strategy, o.Market, held)
	s.insist(o, r)
	s.advance(o.Strategy, o.Market)
}

// follow is Follow without regard to Closes.
func (s *Set) follow(o *state.Order, r *market.Report, fresh []market.Fill, held market.Qty) {
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
	s.touch(b)
	if b.buys(o.ID) {
		b.follow(o, fresh)
		s.pay(b, fresh)
		s.leaveBought(b, fresh)
		if exit := s.orders.Own(b.exit); exit != nil && len(fresh) > 0 && b.UnprotectedSince == 0 {
			s.exposeRest(b, exit)
		}
		if o.ID != b.entry && o.ID != b.buyer && o.Over() {
			delete(s.entryOf, o.ID)
		}
	} else {
		s.followExit(b, o, r, fresh)
		if s.loose(b) > 0 { // other sells may have sold what the exit held
			entry := b.entry
			s.shrink(o.Strategy, o.Market, held)
			at := s.placeOf(entry)
			if at < 0 {
				return
			}
			b = &s.all[at]
		}
		if b.amount < 0 { // its strategy had made the exit larger than the bracket
			b.amount = 0
			s.settle(b)
			s.shrink(o.Strategy, o.Market, held)
			return
		}
	}
	s.settle(b)
}

// follow takes a report of the entry.
func (b *bracket) follow(o *state.Order, fresh []market.Fill) {
	b.closed = b.closed || o.State.Terminal() && !b.more && o.ID == b.buying()
	for i := range fresh {
		b.amount += fresh[i].Amount
	}
}

func (s *Set) followExit(b *bracket, o *state.Order, r *market.Report, fresh []market.Fill) {
	for i := range fresh {
		b.amount -= fresh[i].Amount
		b.leaving = min(b.leaving, max(0, b.amount)) // what an exit has sold is not sold again
		b.sold = true
		b.resetFailures()
	}
	if r != nil && r.Exec == market.ExecRestated && r.RestatementReason == 0 {
		s.restated(b, o)
	}
	switch {
	case o.State.Terminal():
		s.ended(b, o)
		return
	case r != nil && r.Exec == market.ExecRejected:
		s.changeRefused(b, o, r.Command, r.Code)
	case r != nil && r.Exec == market.ExecUpdated:
		b.resetFailures()
		b.reducing = false
	case o.State == state.Unknown:
		s.report(b, strategy.CauseUnknown, 0, "it is not known whether the exchange has the exit")
		return
	}
	if !s.exposeRest(b, o) {
		s.protect(b)
		b.NoBuyers = false // buyers may be back when the other exit is due
	}
}

// restated takes over the level to which someone else has moved the resting exit.
func (s *Set) restated(b *bracket, exit *state.Order) {
	if b.leg == market.KeepTarget != b.swapping {
		b.levels.Target = exit.Price
		return
	}
	if exit.TriggerAmount < b.levels.Stop {
		s.loosen(b, exit.TriggerAmount)
	}
	b.levels.Stop = exit.TriggerAmount
}

// exposeRest notes that the exit of a bracket sells less than its amount, if it does.
func (s *Set) exposeRest(b *bracket, exit *state.Order) bool {
	cause := strategy.CausePartly
	switch {
	case exit.AmountRemaining >= b.amount || exit.BookedAmount() != exit.FilledAmount:
		return false
	case exit.AmountRemaining >= b.kept():
		cause = strategy.CauseClose
	}
	if cause == strategy.CausePartly && exit.AmountRemaining >= s.portion(b, b.leg) {
		m := s.catalog.Market(b.market)
		s.report(b, cause, 0, fmt.Sprintf("the market takes %s of %s in one order; the next exit follows when "+
			"this one has sold", m.FormatQty(s.portion(b, b.leg)), m.FormatQty(b.kept())))
		return true
	}
	s.expose(b, cause)
	return true
}

// changeRefused handles a cancel or a change of the resting exit that the exchange refused.
func (s *Set) changeRefused(b *bracket, o *state.Order, command market.CommandKind, code int) {
	swap := command == market.CommandCancel && b.swapping
	if command == market.CommandCancel && (code != exchange.CodeNotFound || !s.Closing(b.strategy, b.market)) {
		b.ending = false
	}
	b.undoChange(&o.Order, command)
	b.fail(s.now(), 0)
	if swap && b.Failures > 1 {
		b.RefusedLegs |= 1 << other(b.leg)
	}
}

// ended handles the end of an exit: swapped, filled, refused, or ended by the exchange.
func (s *Set) ended(b *bracket, o *state.Order) {
	swapped, ending, leg, now := b.swapping, b.ending || b.leaving > 0 && b.kept() == 0, b.leg, s.now()
	s.setExit(b, 0)
	b.swapping, b.ending, b.reducing, b.met = false, false, false, false
	if b.standIn { // it stood in for the other leg, which is still wanted
		b.leg, b.standIn = other(leg), false
	}
	switch {
	case ending && b.amount > 0:
		s.expose(b, strategy.CauseClose)
	case b.amount <= 0:
	case b.withdrawn:
		s.report(b, strategy.CauseCancelled, o.Code, withdrawnText)
	case o.FilledAmount > 0:
	case s.silent():
		s.expose(b, strategy.CauseStopped)
	case swapped:
		s.expose(b, strategy.CauseSwap)
	case o.State != state.Expired && s.cancelEntry(b):
		s.expose(b, strategy.CauseCancelled)
	default:
		b.NoBuyers = o.State == state.Expired
		b.fail(now, now.Sub(o.Created))
		b.met = b.Failures == 1 && o.RestatementReason == market.CancelOnSelfTradePrevention
		if b.Failures > 1 {
			b.RefusedLegs |= 1 << leg
		}
		if o.Code == exchange.CodeInsufficientBalance { // the base may have left: the books are compared first
			b.Next = max(b.Next, now.Add(market.Duration(time.Second)))
			b.RefusedLegs = 1<<market.KeepStop | 1<<market.KeepTarget
		}
		s.report(b, endCause(o), o.Code, endText(o, "exit"))
	}
}

// cancelEntry stops the entry from buying more after an exit has failed: the rest of the entry is
// in the way of a stop (self-trade prevention cancels the stop), and a falling market would go on
// filling it. It reports whether it cancelled.
func (s *Set) cancelEntry(b *bracket) bool {
	o := s.orders.Own(b.buying())
	if b.closed || o == nil || o.InFlight != 0 {
		if b.more {
			s.orders.Cancel(b.entry, true)
		}
		return false
	}
	s.orders.Cancel(o.ID, true)
	return true
}

// settle brings the venue in line with the bracket: it places, enlarges, swaps back or ends.
func (s *Set) settle(b *bracket) {
	s.touch(b)
	switch {
	case b.withdrawn:
		if b.exit == 0 && b.kept() > 0 && b.Reported != strategy.CauseCancelled {
			s.report(b, strategy.CauseCancelled, 0, withdrawnText)
		}
	case s.silent():
		if b.kept() > 0 && b.exit == 0 && b.UnprotectedSince == 0 {
			s.expose(b, strategy.CauseStopped)
		}
	case b.kept() <= 0:
		if b.leaving > 0 && b.UnprotectedSince == 0 && s.uncovered(b) > 0 { // its base waits for its sale
			s.expose(b, strategy.CauseClose)
		}
	case b.exit == 0 && len(s.outside) > 0 && s.soldOutside(b):
		s.expose(b, strategy.CauseClose)
		b.Next = s.now().Add(outsidePause)
	case b.exit == 0:
		// a second attempt waits for the next open: at the same moment it would be refused again
		_ = s.attempt(b, b.Failures == 0 || b.Cause == strategy.CauseSwap || b.met)
	case b.swapping || b.ending:
	case b.standIn && s.swappable(b):
		s.swap(b)
	default:
		s.resize(b)
	}
	if b.done() {
		s.remove(b)
		return
	}
	if !s.stopped && !s.held {
		s.move(b, b.High)
	}
	s.rewatch(b)
}

// resize updates the resting exit to the amount that the entry has bought so far and that no Close
// sells.
func (s *Set) resize(b *bracket) {
	o, now := s.orders.Own(b.exit), s.now()
	c := s.closes.of(b.strategy, b.market)
	if o == nil {
		return
	}
	// an exit that has become larger than the market takes stays: what rests is not refused
	wanted := max(s.portion(b, b.leg), min(o.AmountRemaining, b.kept()))
	whole := s.catalog.Market(b.market).RoundAmount(o.FilledAmount + wanted)
	same := o.AmountRemaining == wanted || o.AmountRemaining < wanted && whole <= o.FilledAmount+o.AmountRemaining
	if o.InFlight != 0 || same || o.BookedAmount() < o.FilledAmount ||
		now < b.Next && b.leaving == 0 || b.leaving > 0 && (c == nil || c.failed || b.reducing) {
		return
	}
	if o.AmountRemaining < wanted {
		s.expose(b, strategy.CausePartly)
	}
	x := &s.command
	*x = market.Command{Kind: market.CommandUpdate, Changed: market.ChangeAmount, At: now, Attached: true}
	x.Order.ID, x.Order.Strategy = b.exit, b.strategy
	x.Order.Amount = whole
	b.reducing = b.leaving > 0
	err := s.orders.Update(x, !b.reducing || s.InPath(o))
	switch {
	case err == nil:
	case b.reducing:
		b.reducing = false
		c.fail(0, err.Error())
	default: // the smaller exit stays
		b.fail(now, 0)
		s.reportRefused(b, strategy.CausePartly, err)
	}
}

// Lose takes from brackets what their strategy no longer holds, because base has left its books
// without an order of its own: base that no bracket protects goes first, then as in shrink. What is
// left has its exits at once. each is called with every bracket that has become smaller.
func (s *Set) Lose(id market.StrategyID, m market.ID, held market.Qty, each func(bracket market.OrderID, was,
	is market.Qty)) {
	if s.Len() == 0 {
		return
	}
	was := make(map[market.OrderID]market.Qty, len(s.all))
	for i := range s.all {
		was[s.all[i].entry] = s.all[i].amount
	}
	s.shrink(id, m, held)
	for i := len(s.all) - 1; i >= 0; i-- {
		if b := &s.all[i]; b.amount != was[b.entry] {
			s.touch(b)
			b.resetFailures()
			s.settle(b)
		}
	}
	s.clip(id, m, held)
	s.advance(id, m)
	for _, entry := range slices.Sorted(maps.Keys(was)) {
		is := market.Qty(0)
		if b := s.of(entry); b != nil {
			is = b.amount
		}
		if is < was[entry] {
			each(entry, was[entry], is)
		}
	}
}

// shrink takes from brackets what their strategy has sold outside them: first from those without an
// exit, then from those whose exit does not hold all of their amount, the newest first. What an
// exit holds, other sells have sold only where the account has more than the strategy: one that
// counted as ended has filled after all. Then the exit becomes smaller, or ends.
func (s *Set) shrink(id market.StrategyID, m market.ID, held market.Qty) {
	over := s.Covered(id, m) - max(0, held)
	for pass := range 3 {
		for i := len(s.all) - 1; i >= 0 && over > 0; i-- {
			b := &s.all[i]
			if b.strategy != id || b.market != m || (b.exit == 0) != (pass == 0) {
				continue
			}
			less := s.loose(b)
			if pass == 2 { // all but what the exit has sold by fills that are not known yet
				less = b.amount - s.unheld(b) + less
			}
			if less = min(over, less); less <= 0 {
				continue
			}
			s.touch(b)
			over, b.amount = over-less, b.amount-less
			b.leaving = min(b.leaving, b.amount)
			s.shrunk(b)
			if pass == 2 {
				s.lowerExit(b)
			}
		}
	}
}

// lowerExit makes the exit of a bracket as small as the bracket has become, or ends it.
func (s *Set) lowerExit(b *bracket) {
	switch {
	case b.amount > 0:
		s.resize(b)
	case !b.ending:
		b.ending = true
		s.orders.Cancel(b.exit, false)
	}
}
