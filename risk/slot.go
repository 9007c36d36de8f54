package risk

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// slot is the gate's memory of one strategy.
type slot struct {
	limits   Limits
	halted   bool
	cold     int           // markets in warm-up
	sent     []market.Time // ring of the latest sends, as long as OrdersPerMinute
	sentAt   int
	losses   int
	coolTill market.Time
	realised []market.Value // by market: at the last count of a win or a loss
	refused  [reasons]int64
	scaled   int64         // orders that volatility_target has made smaller
	codes    map[int]int64 // refusals by the exchange's error code
	warming  []lack        // by market
}

// Closed notes the end of a sell: a loss counts towards the cool-down, a gain ends the row.
func (g *Gate) Closed(a *state.Account, o *market.Order, at market.Time) {
	if o.Side == market.Sell && o.FilledAmount != 0 {
		g.sold(a, o, at)
	}
}

func (g *Gate) sold(a *state.Account, o *market.Order, at market.Time) {
	s := &g.slots[o.Strategy]
	realised := a.Holding(o.Strategy, o.Market).Realised
	lost := realised.Cmp(s.realised[o.Market]) < 0
	s.realised[o.Market], g.changed = realised, true
	if !lost {
		s.losses = 0
		return
	}
	s.losses++
	if s.limits.CoolDownLosses > 0 && s.losses >= s.limits.CoolDownLosses {
		s.losses = 0
		s.coolTill = at.Add(s.limits.CoolDown)
	}
}

// TakeLimits lets the limits of another gate, of the same catalog and strategies, hold from now on.
// What was counted stays: orders of the last minute, losses in a row, the day's loss, the
// high-water mark. So do halts, a used up daily loss and a reached drawdown, also where the new
// limit is higher, or none. A limit on the equity that is the first one counts from now on. A first
// target for the volatility begins with the closes that the other gate has seen.
func (g *Gate) TakeLimits(from *Gate) {
	followed := g.followsEquity()
	if v := from.volatility; v != nil && (g.volatility == nil || g.volatility.interval != v.interval) {
		g.volatility, v.changed = v, true // g has no closes of this interval
	}
	g.setAccount(from.account)
	if w := &g.equity; !followed && g.followsEquity() {
		*w = equityWatch{drawn: w.drawn}
	}
	for i := range g.slots {
		g.slots[i].setLimits(from.slots[i].limits)
	}
	g.changed = true
}

// setLimits sets the limits of a strategy. The ring keeps the latest sends.
func (s *slot) setLimits(limits Limits) {
	if n := limits.OrdersPerMinute; n != len(s.sent) {
		var latest []market.Time // oldest first
		for i := range s.sent {
			if at := s.sent[(s.sentAt+i)%len(s.sent)]; at != 0 {
				latest = append(latest, at)
			}
		}
		s.sent, s.sentAt = make([]market.Time, n), 0
		if n > 0 {
			s.sentAt = copy(s.sent, latest[max(0, len(latest)-n):]) % n
		}
	}
	s.limits = limits
}

// Halt refuses every order and change of a strategy until Resume.
func (g *Gate) Halt(s market.StrategyID) { g.halt(s, true) }

// Resume ends a Halt. A person decides it, so it also forgives a drawdown: the next one counts from
// the present equity.
func (g *Gate) Resume(s market.StrategyID) {
	g.halt(s, false)
	if w := &g.equity; w.drawn {
		w.drawn, w.highWater = false, w.latest
	}
}

func (g *Gate) halt(s market.StrategyID, on bool) { g.slots[s].halted, g.changed = on, true }

// Halted reports whether a strategy is halted.
func (g *Gate) Halted(s market.StrategyID) bool { return g.slots[s].halted }

// lack is the number of candles that a strategy's warm-up in a market still needs.
type lack struct {
	on       bool
	candles  int
	interval market.Interval
}

// WarmUp refuses a strategy's orders in a market until Warm: it needs as many more candles of an
// interval, or with 0 the start of trading.
func (g *Gate) WarmUp(s market.StrategyID, m market.ID, candles int, interval market.Interval) {
	g.Warm(s, m)
	g.slots[s].warming[m] = lack{true, candles, interval}
	g.slots[s].cold++
}

// Warm ends WarmUp.
func (g *Gate) Warm(s market.StrategyID, m market.ID) {
	if w := &g.slots[s].warming[m]; w.on {
		*w = lack{}
		g.slots[s].cold--
	}
}

// warm refuses the orders of a strategy in a market that is in its warm-up.
//
//go:noinline
func (g *Gate) warm(s *slot, m market.ID) error {
	w := &s.warming[m]
	return g.objection(s, ReasonWarmUp, int64(w.candles), int64(w.interval))
}
