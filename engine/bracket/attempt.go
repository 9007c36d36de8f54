package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Due is when the next attempt to place or enlarge an exit is to be made. any is false where
// nothing but a change of amount, levels or rules could help.
func (s *Set) Due() (at market.Time, any bool) {
	at = never
	for i := range s.all {
		if b := &s.all[i]; s.waits(b) {
			at = min(at, b.next)
		}
	}
	return at, at != never
}

// waits reports whether a bracket waits for the time of its next attempt.
func (s *Set) waits(b *bracket) bool {
	if b.bare == 0 || b.amount <= 0 || b.swapping {
		return false
	}
	if b.exit == 0 {
		return true
	}
	o := s.orders.Own(b.exit)
	return b.cause == strategy.CausePartly && o != nil && o.InFlight == 0
}

// Retry makes the attempts that are due.
func (s *Set) Retry() {
	now := s.now()
	for i := len(s.all) - 1; i >= 0; i-- {
		b := &s.all[i]
		if !s.waits(b) || b.next > now {
			continue
		}
		before := len(s.all)
		s.settle(b)
		// an attempt that leaves all as it was is not made again at once
		if len(s.all) == before && s.waits(b) && b.next <= now {
			b.next = now.Add(longestWait)
		}
	}
}

// Rules hears that a market's rules or its status changed: what was refused may pass now.
func (s *Set) Rules(m market.ID) {
	for i := len(s.all) - 1; i >= 0; i-- {
		if b := &s.all[i]; b.market == m {
			b.next, b.spurned = 0, 0
			s.settle(b)
		}
	}
	s.watch(m)
}

// attempt places the leg that is next, or else the other one: an exit that cannot rest does not
// take the other along. Where neither can, the bracket stays bare until the time of the next
// attempt, or until amount, levels or rules change. It returns the refusal of the gate where one
// left the bracket bare.
func (s *Set) attempt(b *bracket, inPath bool) (err error) {
	wanted := b.leg
	if b.bare == 0 {
		s.expose(b, strategy.CauseArriving)
	}
	for _, leg := range [...]market.Leg{wanted, other(wanted)} {
		if leg != wanted && b.thin || !s.may(b, leg) {
			continue
		}
		if fault := s.fault(b, wanted); leg != wanted && fault.Found() && b.level(wanted) != 0 {
			s.tell(b, causeOf(fault), 0, s.words(b, fault))
		}
		b.leg = leg
		refused := s.place(b, inPath)
		if refused == nil {
			b.stands = leg != wanted && b.level(wanted) != 0
			return nil
		}
		err = refused
		s.refused(b, leg, err)
	}
	b.leg = wanted
	s.stayBare(b)
	return err
}

// may reports whether a leg may be tried now.
func (s *Set) may(b *bracket, leg market.Leg) bool {
	return b.level(leg) != 0 && !(b.spurned.has(leg) && s.now() < b.next) && !s.fault(b, leg).Found()
}

// stayBare deals with a bracket of which no leg can rest now.
func (s *Set) stayBare(b *bracket) {
	fits := false
	for _, leg := range [...]market.Leg{market.KeepStop, market.KeepTarget} {
		fits = fits || b.level(leg) != 0 && !s.fault(b, leg).Found()
	}
	fault := s.fault(b, firstLeg(b.levels))
	switch {
	case fits: // it was refused, and is tried again in a while
		b.next = max(b.next, s.now()+1)
	case b.closed && s.dust(b): // dust is flat: the bracket ends
		if !b.sold {
			s.tell(b, strategy.CauseTooSmall, 0, s.words(b, fault)+"; dust, which counts as nothing")
		}
		s.protect(b)
		b.amount = 0
	default:
		b.next = never
		s.tell(b, causeOf(fault), 0, s.words(b, fault))
	}
}

// causeOf is why a leg of that fault cannot rest.
func causeOf(fault risk.Fault) strategy.Cause {
	if fault.TooSmall() {
		return strategy.CauseTooSmall
	}
	return strategy.CauseRefused
}

// dust reports whether what is held is the rest of a sale, or so little that it could not be sold
// at the latest price either.
func (s *Set) dust(b *bracket) bool {
	if last := s.orders.Last(b.market); !b.sold && last != 0 {
		m := s.catalog.Market(b.market)
		return risk.LevelFault(m, b.leg, market.FloorTo(last, m.TickSize), b.amount).TooSmall()
	}
	return b.sold
}

// refused deals with an exit that the gate refused.
func (s *Set) refused(b *bracket, leg market.Leg, err error) {
	b.fail(s.now(), 0)
	b.spurned |= 1 << leg
	s.tellRefused(b, strategy.CauseRefused, err)
}

// fault asks the market's rules whether a leg could sell what is held.
func (s *Set) fault(b *bracket, leg market.Leg) risk.Fault {
	return risk.LevelFault(s.catalog.Market(b.market), leg, b.level(leg), b.amount)
}

func (s *Set) words(b *bracket, fault risk.Fault) string {
	return fault.Words(s.catalog.Market(b.market))
}

// place sends an exit: a stopLoss or limit that rests, or after a swap the order that takes the
// price it has reached. inPath lets it act inside the path under way.
func (s *Set) place(b *bracket, inPath bool) error {
	c := &s.command
	*c = market.Command{Kind: market.CommandPlace, At: s.now(), Attached: true}
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
		return err
	}
	b.exit = id
	if b.next == never { // what was too little is enough now
		b.next = 0
	}
	if b.cause != strategy.CauseSwap {
		s.expose(b, strategy.CauseArriving)
	}
	return nil
}
