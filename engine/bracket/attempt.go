package bracket

import (
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Due is the time of the next attempt to place, enlarge or move an exit, or to close. any is false
// where only a change of amount, levels or rules could help.
func (s *Set) Due() (at market.Time, any bool) {
	at = s.departs.due()
	for _, entry := range s.bare {
		if b := &s.all[s.placeOf(entry)]; s.waits(b) {
			at = min(at, b.Next)
		}
	}
	for i := 0; s.following > 0 && i < len(s.all); i++ {
		at = min(at, s.followDue(&s.all[i]))
	}
	return at, at != never
}

// waits reports whether a bracket waits for its next attempt.
func (s *brackets) waits(b *bracket) bool {
	if b.withdrawn || b.UnprotectedSince == 0 || b.kept() <= 0 || b.swapping || b.ending {
		return false
	}
	if b.exit == 0 || b.Cause != strategy.CausePartly {
		return b.exit == 0
	}
	o := s.orders.Own(b.exit)
	return o != nil && o.InFlight == 0
}

// Retry makes the attempts that are due.
func (s *Set) Retry() {
	if s.held && s.silent() {
		return
	}
	if len(s.closes.all) > 0 {
		s.advanceAll()
	}
	if len(s.departs.all) > 0 && !s.stopped {
		s.departAll()
	}
	if s.following > 0 && !s.stopped {
		s.followAll()
	}
	if len(s.bare) > 0 {
		s.retryBare()
	}
}

func (s *Set) retryBare() {
	now := s.now()
	s.places = s.places[:0]
	for _, entry := range s.bare {
		if at := s.placeOf(entry); s.waits(&s.all[at]) && s.all[at].Next <= now {
			s.places = append(s.places, at)
		}
	}
	slices.Sort(s.places)
	for _, at := range slices.Backward(s.places) { // the newest first: the ends of later ones move no earlier one
		b, before := &s.all[at], len(s.all)
		s.settle(b)
		// an attempt that changed nothing is not repeated at once
		if len(s.all) == before && s.waits(b) && b.Next <= now {
			b.Next = now.Add(maxWait)
		}
	}
}

// RulesChanged tries again in a market whose rules or status changed: refused exits may pass now.
func (s *Set) RulesChanged(m market.ID) {
	for i := len(s.all) - 1; i >= 0; i-- {
		if b := &s.all[i]; b.market == m {
			s.touch(b)
			b.Next, b.RefusedLegs, b.least = 0, 0, b.least.with(leastOf(s.catalog.Market(m)))
			s.settle(b)
		}
	}
	s.watch(m)
	for i := range s.departs.all {
		if d := &s.departs.all[i]; d.Market == m && !s.Closing(d.Strategy, m) {
			d.Next = s.now()
		}
	}
}

// attempt places the wanted leg, or else the other one. Where neither can rest, the bracket stays
// bare until the next attempt, or until amount, levels or rules change. It returns the gate's
// refusal where one left the bracket bare.
func (s *Set) attempt(b *bracket, inPath bool) (err error) {
	wanted := b.leg
	if b.UnprotectedSince == 0 {
		s.expose(b, strategy.CauseArriving)
	}
	for _, leg := range [...]market.Leg{wanted, other(wanted)} {
		if leg != wanted && b.NoBuyers || !s.canTry(b, leg) {
			continue
		}
		if fault := s.fault(b, wanted); leg != wanted && fault.Found() && b.level(wanted) != 0 {
			s.report(b, causeOf(fault), 0, s.faultText(b, fault))
		}
		b.leg = leg
		refused := s.place(b, inPath)
		if refused == nil {
			b.standIn = leg != wanted && b.level(wanted) != 0
			return nil
		}
		err = refused
		b.fail(s.now(), 0)
		b.RefusedLegs |= 1 << leg
		s.reportRefused(b, strategy.CauseRefused, err)
	}
	b.leg = wanted
	s.stayBare(b)
	return err
}

// canTry reports whether a leg may be tried now.
func (s *Set) canTry(b *bracket, leg market.Leg) bool {
	return b.level(leg) != 0 && !(b.RefusedLegs.has(leg) && s.now() < b.Next) && !s.fault(b, leg).Found()
}

// stayBare handles a bracket of which no leg can rest now.
func (s *Set) stayBare(b *bracket) {
	fits := false
	for _, leg := range [...]market.Leg{market.KeepStop, market.KeepTarget} {
		fits = fits || b.level(leg) != 0 && !s.fault(b, leg).Found()
	}
	fault := s.fault(b, firstLeg(b.levels))
	switch {
	case fits: // a refused exit is tried again later
		b.Next = max(b.Next, s.now()+1)
	case b.closed && s.dust(b) && b.leaving > 0: // its Close has sold nothing yet, and may fail
		b.Next = never
		s.expose(b, strategy.CauseClose)
	case b.closed && s.dust(b): // dust is flat: the bracket ends
		if !b.sold {
			s.report(b, strategy.CauseTooSmall, 0, s.faultText(b, fault)+"; dust, which counts as nothing")
		}
		b.amount = 0
		s.protect(b)
	default:
		b.Next = never
		s.report(b, causeOf(fault), 0, s.faultText(b, fault))
	}
}

// causeOf is the cause of a leg's fault.
func causeOf(fault risk.Fault) strategy.Cause {
	if fault.TooSmall() {
		return strategy.CauseTooSmall
	}
	return strategy.CauseRefused
}

// dust reports whether the held amount is below the market's minimum at the latest price; of the
// rest of a sale, at the higher of its levels. The minimum is that of the entry if it has risen
// since: it may fall again.
func (s *Set) dust(b *bracket) bool {
	m, price := *s.catalog.Market(b.market), s.orders.Last(b.market)
	if b.sold {
		price = max(b.levels.Stop, b.levels.Target)
	}
	m.MinOrderInBase, m.MinOrderInQuote = b.least.LeastBase, b.least.LeastQuote
	return price != 0 && risk.LevelFault(&m, b.leg, market.FloorTo(price, m.TickSize), b.kept()).TooSmall()
}

// fault is the market rule that keeps a leg from selling the held amount.
func (s *brackets) fault(b *bracket, leg market.Leg) risk.Fault {
	return s.faultAt(b, leg, b.level(leg), b.kept())
}

// faultAt is fault for another level and amount.
func (s *brackets) faultAt(b *bracket, leg market.Leg, level market.Price, amount market.Qty) risk.Fault {
	m := s.catalog.Market(b.market)
	return risk.LevelFault(m, leg, level, exchange.Portion(m, amount, level))
}

// portion is what an exit of a leg sells of the held amount: all, or as much as the market takes in
// one order. The next exit follows when it has sold.
func (s *brackets) portion(b *bracket, leg market.Leg) market.Qty {
	return exchange.Portion(s.catalog.Market(b.market), b.kept(), b.level(leg))
}

func (s *brackets) faultText(b *bracket, fault risk.Fault) string {
	return fault.Words(s.catalog.Market(b.market))
}

// place sends an exit: a stopLoss or a limit. inPath lets it act inside the current path.
func (s *Set) place(b *bracket, inPath bool) error {
	c := &s.command
	*c = market.Command{Kind: market.CommandPlace, At: s.now(), Attached: true}
	o := &c.Order
	o.Strategy, o.Market, o.Side, o.Amount = b.strategy, b.market, market.Sell, s.portion(b, b.leg)
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
	s.setExit(b, id)
	if b.Next == never { // the amount was too small, and no longer is
		b.Next = 0
	}
	if b.Cause != strategy.CauseSwap {
		s.expose(b, strategy.CauseArriving)
	}
	return nil
}

// Guard makes the attempts of a stopped set that are due. The first call makes them all. A set that
// is held, and not stopped, goes on. Without exits, only Closes go on.
//
// A stopped set begins nothing: no Close, no swap, no move of a stop. Where a stop keeps exits, it
// goes on to place those that positions lack. Where it keeps none, and where it does, it goes on to
// sell what has lost its exit for its sale.
func (s *Set) Guard(exits bool) {
	switch {
	case !exits:
		s.finishes = s.stopped && !s.held
		s.advanceAll()
		return
	case s.held && !s.stopped:
		s.held = false
		s.Resume()
		for i := len(s.all) - 1; i >= 0; i-- {
			s.settle(&s.all[i])
		}
	case s.stopped && !s.guards:
		s.guards = true
		s.Resume()
	}
	s.Retry()
}
