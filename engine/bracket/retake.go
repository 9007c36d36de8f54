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
	var found *bracket // the one of the same amount, or else the first
	for i := range s.all {
		b := &s.all[i]
		if b.strategy != o.Strategy || b.market != o.Market || b.exit != 0 || b.level(leg) != level || b.withdrawn ||
			b.leaving > 0 || b.amount <= 0 {
			continue
		}
		if found == nil || found.amount != o.AmountRemaining && b.amount == o.AmountRemaining {
			found = b
		}
	}
	if found == nil {
		return false
	}
	s.touch(found)
	found.standIn = found.leg != leg && found.level(found.leg) != 0
	found.leg = leg
	s.setExit(found, o.ID)
	s.rewatch(found)
	return true
}
