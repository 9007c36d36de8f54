package bracket

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// leaveBought adds what an entry buys before its cancel arrives to what leaves.
func (s *closer) leaveBought(b *bracket, fresh []market.Fill) {
	c := s.closes.of(b.strategy, b.market)
	if c == nil || !c.whole || c.sale != 0 || b.entry > c.last {
		return
	}
	for i := range fresh {
		b.leaving += fresh[i].Amount
	}
}

// count counts what the other orders of a closing buy and sell before their cancels arrive.
func (l *closings) count(o *state.Order, fresh []market.Fill, bracketed bool) {
	c := l.of(o.Strategy, o.Market)
	if bracketed || c == nil || !c.whole || c.sale != 0 || o.ID > c.last || hasLevels(o.Bracket) {
		return
	}
	for i := range fresh {
		if o.Side == market.Buy {
			c.free += fresh[i].Amount
		} else {
			c.free = max(0, c.free-fresh[i].Amount)
		}
	}
}

// clip takes from a closing what other orders have sold of the base without a bracket.
func (s *closer) clip(id market.StrategyID, m market.ID, held market.Qty) {
	if c := s.closes.of(id, m); c != nil {
		c.free = min(c.free, max(0, held-s.Covered(id, m)))
	}
}

// concerns reports whether a closing waits for the end of an order: b is its bracket, nil for none.
func (c *closing) concerns(o *state.Order, b *bracket) bool {
	switch {
	case c == nil || c.sale != 0:
		return false
	case b != nil && b.exit == o.ID:
		return b.ending
	case c.only != 0:
		return o.ID == c.only || b != nil && b.entry == c.only
	}
	return o.ID <= c.last && (c.whole || b != nil)
}

// answer notes that the sale may follow a report inside its path. After a Close that was decided on
// a candle's close it always may. What was decided inside a path, on a fill, arrives at the next
// open, and so does its answer; an order that has filled before its cancel arrived is no answer.
func (s *closer) answer(o *state.Order, r *market.Report) {
	c, b := s.closes.of(o.Strategy, o.Market), s.of(o.ID)
	switch {
	case c == nil || r == nil:
	case c.atClose && o.Updated >= c.since,
		r.Exec == market.ExecUpdated && b != nil && b.exit == o.ID && b.reducing,
		o.State == state.Canceled && o.RestatementReason == 0 && c.concerns(o, b) && (b == nil || !b.swapping):
		c.inPath = true
	}
}

// InPath reports whether a cancel or a change that has waited for the arrival of its order acts
// inside the path: that of a swap, of a partial target, and of a Close that was decided before.
func (s *closer) InPath(o *state.Order) bool {
	b, c := s.of(o.ID), s.closes.of(o.Strategy, o.Market)
	return b != nil && b.exit == o.ID && b.swapping && !b.ending ||
		c != nil && c.sale == 0 && (c.parts > 0 && s.EntryOf(o.ID) == c.only || c.atClose && o.Updated >= c.since)
}

// closeRefused handles the refusal of a closing's cancel or change before its bracket does. An
// order that the exchange does not know (240) has ended, and its end is about to be reported.
func (s *closer) closeRefused(o *state.Order, r *market.Report) {
	c, b := s.closes.of(o.Strategy, o.Market), s.of(o.ID)
	if c == nil || r == nil || r.Exec != market.ExecRejected || r.Command == market.CommandPlace {
		return
	}
	ours := r.Command == market.CommandCancel && c.concerns(o, b)
	if r.Command == market.CommandUpdate && b != nil && b.exit == o.ID && b.reducing {
		ours = true
	}
	switch {
	case !ours || r.Code == exchange.CodeNotFound:
	case r.Code == 0:
		c.fail(0, fmt.Sprintf("the exchange did not carry out the %s of order %d", r.Command, o.ID))
	default:
		c.fail(r.Code, fmt.Sprintf("the exchange refused the %s of order %d: %s", r.Command, o.ID,
			exchange.ErrCode(r.Code)))
	}
}

func (c *closing) fail(code int, why string) {
	if !c.failed {
		c.failed, c.code, c.why = true, code, why
	}
}

// insist repeats a cancel or a reduction of an order that is open after all, though the exchange
// did not know it.
func (s *closer) insist(o *state.Order, r *market.Report) {
	if s.silent() || r == nil || r.Exec == market.ExecRejected || r.Exec == market.ExecUnknown || o.State.Terminal() ||
		o.State == state.Unknown || o.InFlight != 0 || o.CancelWanted {
		return
	}
	b := s.of(o.ID)
	switch c := s.closes.of(o.Strategy, o.Market); {
	case c.concerns(o, b):
		s.orders.Cancel(o.ID, false)
	case c != nil && b != nil && b.reducing:
		b.reducing = false
		s.exits.resize(b)
	}
}
