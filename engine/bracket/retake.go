package bracket

import (
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Retake gives an open order back to the bracket whose exit it was before it counted as ended, and
// reports whether it did: the bracket wants an exit at this level, and has none. The order's next
// report says what it sells. Otherwise brackets without an exit try again at once: the order may
// have held their base.
func (s *Set) Retake(o *state.Order) bool { return s.take(o, false) }

// Take is Retake for an order of which the brackets knew nothing: it may rest at another level,
// which the bracket takes over.
func (s *Set) Take(o *state.Order) bool { return s.take(o, false) || s.take(o, true) }

func (s *Set) take(o *state.Order, moved bool) bool {
	leg, level := market.KeepTarget, o.Price
	if o.TriggerAmount != 0 {
		leg, level = market.KeepStop, o.TriggerAmount
	}
	var found *bracket // the one of the same amount, or else the first
	for i := range s.all {
		b := &s.all[i]
		if b.strategy != o.Strategy || b.market != o.Market || b.exit != 0 || b.withdrawn || b.leaving > 0 ||
			b.amount <= 0 {
			continue
		}
		s.touch(b)
		b.resetFailures()
		if b.level(leg) != level && !(moved && b.level(leg) != 0) {
			continue
		}
		if found == nil || found.amount != o.AmountRemaining && b.amount == o.AmountRemaining {
			found = b
		}
	}
	if found == nil {
		return false
	}
	found.standIn = found.leg != leg && found.level(found.leg) != 0
	found.leg = leg
	s.setExit(found, o.ID)
	if moved {
		s.restated(found, o)
	}
	s.rewatch(found)
	return true
}

// Enclose opens a bracket, with an id of its own, around a stop that rests over base without one.
func (s *Set) Enclose(name market.OrderID, stop *state.Order) {
	b := s.add(bracket{entry: name, strategy: stop.Strategy, market: stop.Market,
		levels: market.Bracket{Stop: stop.TriggerAmount}, leg: market.KeepStop, amount: stop.Amount, closed: true,
		least: leastOf(s.catalog.Market(stop.Market))})
	b.Began, b.Bought, b.Paid = s.now(), stop.Amount, s.orders.Cost(stop.Strategy, stop.Market, stop.Amount)
	s.setExit(b, stop.ID)
	s.rewatch(b)
}

// outsidePause is how long a bracket waits before it asks again whether a sale outside has ended.
const outsidePause = market.Duration(time.Second)

// Outside notes a sale that was sent without the engine, such as one of the kill switch, where it
// holds less than it may sell: the rest of its base is counted as free, or as an exit's. While the
// sale is under way, no bracket of its strategy and market places an exit.
func (s *Set) Outside(o *state.Order) {
	if o.Side == market.Sell && o.Type == market.TypeMarket && !o.State.Terminal() &&
		market.Qty(o.OnHold) < o.AmountRemaining {
		s.outside = append(s.outside, o.ID)
	}
}

// soldOutside reports whether a noted sale may sell the base of a bracket. It forgets sales whose
// fills are all booked.
func (s *Set) soldOutside(b *bracket) bool {
	s.outside = slices.DeleteFunc(s.outside, func(id market.OrderID) bool { return s.orders.Own(id).Over() })
	return slices.ContainsFunc(s.outside, func(id market.OrderID) bool {
		o := s.orders.Own(id)
		return o.Strategy == b.strategy && o.Market == b.market
	})
}
