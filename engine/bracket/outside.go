package bracket

import (
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

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
