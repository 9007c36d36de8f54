package tactic

import (
	"slices"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Working reports whether a tactic of a strategy is under way in a market, 0 for all markets.
func (s *Set) Working(id market.StrategyID, m market.ID) bool {
	return slices.ContainsFunc(s.all, func(t *tactic) bool {
		return t.strategy == id && (m == 0 || t.market == m)
	})
}

// End ends the tactics of a strategy in a market, 0 for all markets.
func (s *Set) End(id market.StrategyID, m market.ID) {
	for _, t := range s.all {
		if t.strategy == id && (m == 0 || t.market == m) {
			s.stop(t, false)
		}
	}
}

// EndBuys ends the tactics of a strategy that buy.
func (s *Set) EndBuys(id market.StrategyID) {
	for _, t := range s.all {
		if t.strategy == id && t.side == market.Buy {
			s.stop(t, false)
		}
	}
}

// Cancelled ends the tactic that an order belongs to, because that order is being cancelled by
// its strategy, its bracket or a person.
func (s *Set) Cancelled(order market.OrderID, why port.Why) {
	for _, t := range s.all {
		if why != port.Why(t) && t.has(order) {
			s.stop(t, false)
		}
	}
}

// stop cancels the orders of a tactic and lets no other follow.
func (s *Set) stop(t *tactic, inPath bool) {
	if t.phase == ending {
		return
	}
	t.phase, t.next = ending, s.clock.Add(pause(t))
	s.core.Changed()
	if t.order != 0 {
		s.core.Cancel(t.order, nil, inPath)
	}
	for i := range t.open {
		s.core.Cancel(t.open[i].id, nil, inPath)
	}
}

// leaveUniverse ends a tactic that buys in a market that has left the universe of its strategy.
func (s *Set) leaveUniverse(t *tactic) {
	s.core.Log(t.strategy).Info().Str("market", s.catalog.Market(t.market).Name).
		Str("tactic", t.Words()).Msg("tactic: the market has left the universe; the rest is not bought")
	s.stop(t, false)
}

// end removes a tactic, and logs why where it is not done.
func (s *Set) end(t *tactic, why string) {
	m := s.catalog.Market(t.market)
	line := s.core.Log(t.strategy).Info().Str("market", m.Name).Str("side", t.side.String()).
		Str("tactic", t.Words()).Str("done", m.FormatQty(t.done)).Str("as_maker", m.FormatQty(t.made))
	if t.money == 0 {
		line = line.Str("of", m.FormatQty(t.amount))
	} else {
		line = line.Str("for", m.FormatMoney(t.money-s.rest(t))).Str("of", m.FormatMoney(t.money))
	}
	if why != "" {
		line = line.Str("why", why)
	}
	line.Msg("tactic: ended")
	s.remove(t)
}

func (s *Set) remove(t *tactic) {
	s.all = slices.DeleteFunc(s.all, func(x *tactic) bool { return x == t })
	s.core.Watch()
	s.core.Changed()
	if t.exits {
		s.exits.Finish(t.id)
	}
}

// Takes reports whether a tactic cancels an order to take the rest.
func (s *Set) Takes(order market.OrderID) bool {
	return slices.ContainsFunc(s.all, func(t *tactic) bool { return t.order == order && t.phase == taking })
}

// Follow counts what a report says of the orders of tactics. A sale by the exits of a
// tactic's bracket ends the tactic; bracket is the entry of the order's, or 0.
//
//go:noinline
func (s *Set) Follow(o *state.Order, bracket market.OrderID, fresh []market.Fill) {
	for i := len(s.all) - 1; i >= 0; i-- {
		switch t := s.all[i]; {
		case t.has(o.ID):
			s.count(t, o, fresh)
		case t.exits && len(fresh) > 0 && o.Side == market.Sell && bracket == t.id:
			s.stop(t, true)
		}
	}
}

// count counts the fills of an order, and notes its end.
func (s *Set) count(t *tactic, o *state.Order, fresh []market.Fill) {
	for i := range fresh {
		f := &fresh[i]
		s.core.Changed()
		if t.done += f.Amount; !f.Taker {
			t.made += f.Amount
		}
		worth, err := s.worth(t, f)
		if err != nil {
			continue
		}
		addValue(&t.value, worth)
		if at := t.partOf(o.ID); at >= 0 {
			t.open[at].done += f.Amount
			addValue(&t.open[at].value, worth)
		}
	}
	if !o.Over() {
		return
	}
	s.core.Changed()
	if at := t.partOf(o.ID); at >= 0 {
		t.open = slices.Delete(t.open, at, at+1)
	}
	if t.order != o.ID {
		return
	}
	if t.order = 0; t.phase == taking {
		t.next = *s.clock
	}
	if t.phase == ending {
		return
	}
	switch {
	case o.State == state.Filled, t.phase == taken && o.State == state.Rejected:
		t.phase = ending
		s.end(t, endOf(o))
	case t.phase == taken:
		t.phase = taking // no buyer or seller: again
	}
}

// has reports whether an order is the first one of a tactic, or is under way.
func (t *tactic) has(order market.OrderID) bool {
	return t.id == order || t.order == order || t.partOf(order) >= 0
}

// partOf is the place of an order among those of a TWAP under way, or -1.
func (t *tactic) partOf(order market.OrderID) int {
	return slices.IndexFunc(t.open, func(p child) bool { return p.id == order })
}

func addValue(to *market.Value, more market.Value) {
	if sum, err := to.Add(more); err == nil {
		*to = sum
	}
}

// Buyers are the orders under way that a tactic has sent after the entry of a bracket.
func (s *Set) Buyers(entry market.OrderID) (orders []market.OrderID) {
	for _, t := range s.all {
		if t.id != entry {
			continue
		}
		for i := range t.open {
			if id := t.open[i].id; id != entry {
				orders = append(orders, id)
			}
		}
	}
	return orders
}

// endOf says why an order ended; "" for one that has filled.
func endOf(o *state.Order) string {
	if o.State == state.Filled {
		return ""
	}
	return "the exchange refused the order for the rest"
}

// worth is what a fill counts for a size in money: of a buy with its fee, which counts as a taker's
// while it is not known.
func (s *Set) worth(t *tactic, f *market.Fill) (market.Value, error) {
	value, err := s.catalog.Market(t.market).Value(f.Price, f.Amount)
	if err != nil || t.side == market.Sell {
		return value, err
	}
	fee := f.Fee
	if !f.Settled && fee.Sign() == 0 {
		fees, _ := s.gate.Costs(t.market)
		if fee, err = value.MulRate(fees.Taker); err != nil {
			return value, err
		}
		fee = fee.QuoInt(int64(market.Whole))
	}
	return value.Add(fee)
}

// Due is the earliest time at which a tactic has something to do.
func (s *Set) Due() (at market.Time, any bool) {
	at = farAhead
	if !s.stopped {
		for _, t := range s.all {
			at = min(at, t.due)
		}
	}
	return at, at != farAhead
}

// Owns reports whether an order is one of a tactic of a strategy.
func (s *Set) Owns(id market.StrategyID, order market.OrderID) bool {
	return slices.ContainsFunc(s.all, func(t *tactic) bool {
		return t.strategy == id && t.has(order)
	})
}

// Coming is the base that the tactic of an order may still buy while it has no order under way.
func (s *Set) Coming(order market.OrderID) market.Qty {
	for _, t := range s.all {
		if t.has(order) && t.order == 0 {
			return s.restAt(t, s.joined(t.market, t.side))
		}
	}
	return 0
}
