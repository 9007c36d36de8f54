package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Retake gives an open order back to the bracket whose exit it was before it counted as ended, and
// reports whether it did: the bracket wants an exit at this level, and has none. The order's next
// report says what it sells.
func (s *Set) Retake(o *state.Order) bool {
	leg, level := market.KeepTarget, o.Price
	if o.TriggerAmount != 0 {
		leg, level = market.KeepStop, o.TriggerAmount
	}
	for i := range s.all {
		b := &s.all[i]
		if b.strategy != o.Strategy || b.market != o.Market || b.exit != 0 || b.level(leg) != level || b.withdrawn ||
			b.leaving > 0 || b.amount <= 0 {
			continue
		}
		s.touch()
		b.standIn = b.leg != leg && b.level(b.leg) != 0
		b.leg = leg
		s.setExit(b, o.ID)
		s.rewatch(b)
		return true
	}
	return false
}
