package live

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Self-trade prevention (specification 4.4) changes two orders of the account, and each record
// tells of its own order alone. What has become of the other one is asked for.

// prevented reports whether a report tells that self-trade prevention has changed its order. An
// order that cancels older ones has no word for it: its record alone never shows that it met some.
func prevented(own *state.Order, r *market.Report) bool {
	switch r.RestatementReason {
	case market.DecrementOnSelfTradePrevention, market.CancelOnSelfTradePrevention:
		return r.RestatementReason != own.RestatementReason || r.Amount != own.Amount ||
			r.AmountQuote != own.AmountQuote
	}
	return r.SelfTradePrevention == market.CancelOldest &&
		(!own.Reported || r.Triggered != own.Triggered || r.Exec == market.ExecUpdated)
}

// queryMet queries the own orders that an order may have met: those of the other side whose price
// its own reaches.
func (l *Loop) queryMet(r *market.Report, side market.Side) {
	l.index.follow()
	met, near := &l.index.waiting[r.Market], l.index.nearby[:0]
	switch {
	case side == market.Sell:
		near = met.buys.between(near, r.Price, math.MaxInt64)
	case r.Price == 0:
		near = met.sells.between(near, 0, math.MaxInt64)
	default:
		near = met.sells.between(near, 0, r.Price)
	}
	for _, id := range near {
		l.queryOf(id).soon(l.now)
	}
	l.index.nearby = near
}
