package risk

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// CheckRebalance decides whether a strategy may send these sells together and, when all of them
// have ended, these buys: by its limits on numbers of orders alone. Each order is checked by itself
// when it leaves. The error wraps a *Refusal, valid until the next Check.
func (g *Gate) CheckRebalance(a *state.Account, id market.StrategyID, at market.Time, sells, buys int) error {
	g.now, g.checkedMarket = at, nil
	s := &g.slots[id]
	l, both, most := &s.limits, s.sentLastMinute(at)+sells+buys, max(sells, buys)
	var refused error
	switch {
	case s.halted:
		refused = g.objection(s, ReasonHalted, 0, 0)
	case s.cold > 0 && s.cold == len(s.warming)-1: // every market
		refused = g.objection(s, ReasonWarmUp, 0, 0)
	case l.OrdersPerMinute > 0 && both > l.OrdersPerMinute:
		refused = g.objection(s, ReasonOrdersPerMinute, int64(both), int64(l.OrdersPerMinute))
	case l.MaxInFlight > 0 && a.InFlightBy(id)+most > l.MaxInFlight:
		refused = g.objection(s, ReasonMaxInFlight, int64(a.InFlightBy(id)+most), int64(l.MaxInFlight))
	case l.MaxOpenOrders > 0 && a.SlotsBy(id)+most > l.MaxOpenOrders:
		refused = g.objection(s, ReasonMaxOpenOrders, int64(a.SlotsBy(id)+most), int64(l.MaxOpenOrders))
	default:
		return nil
	}
	return fmt.Errorf("a plan of %d sells and %d buys: %w", sells, buys, refused)
}

// CheckTactic decides whether a strategy may begin a tactic whose whole size is that of c, a market
// order: everything that Check looks at, and whether orders_per_minute lets perMinute orders and
// updates pass. It rounds c and counts nothing: each order is checked by itself when it leaves. The
// error wraps a *Refusal, valid until the next Check.
func (g *Gate) CheckTactic(a *state.Account, c *market.Command, perMinute int) error {
	g.now = c.At
	g.figures, g.checkedMarket = g.figures[:0], nil
	s := &g.slots[c.Order.Strategy]
	sent, at, scaled := slices.Clone(s.sent), s.sentAt, s.scaled
	_, refused := g.checkPlace(a, c)
	s.sent, s.sentAt, s.scaled = sent, at, scaled // nothing is sent yet
	if most := s.limits.OrdersPerMinute; refused == nil && most > 0 && perMinute > most {
		refused = g.objection(s, ReasonOrdersPerMinute, int64(perMinute), int64(most))
	}
	if refused != nil {
		return fmt.Errorf("the whole as an order at market: %w", refused)
	}
	return nil
}

// Stale reports whether a market's latest price is no base for a decision of a strategy: it came
// late, it is older than max_data_age, or it cannot be true.
func (g *Gate) Stale(a *state.Account, id market.StrategyID, m market.ID, at market.Time) bool {
	seen, late := a.PriceArrived(m)
	age := g.slots[id].limits.MaxDataAge
	return late || age > 0 && at.Sub(seen) > age || a.Unreliable(m)
}
