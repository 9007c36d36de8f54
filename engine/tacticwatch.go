package engine

import "github.com/tidemark-trading/tidemark/market"

// watchTactics notes what tactics wait for in the path of a backtest's candles.
func (e *Engine) watchTactics() {
	watches := e.brackets.Watches()
	for m := range watches {
		w := &watches[m]
		w.Tactic, w.Timer, w.Fall, w.Rise = false, 0, 0, 0
	}
	for _, t := range e.tactics {
		w := &watches[t.market]
		watches[0].Tactic, w.Tactic = true, true
		switch level := e.level(t); {
		case level == 0:
		case t.side == market.Sell:
			w.Fall = max(w.Fall, level)
		case w.Rise == 0 || level < w.Rise:
			w.Rise = level
		}
	}
	if at, waits := e.NextTimer(); waits && len(e.tactics) > 0 {
		watches[0].Timer = max(1, at)
	}
}

// level is the nearest price at which a tactic moves its order or takes its rest, where the price
// alone says so; 0: none.
func (e *Engine) level(t *tactic) market.Price {
	last := e.account.Last(t.market)
	_, quoted := e.account.BestPrice(t.market, t.side)
	if quoted || last == 0 || t.phase != working || t.Over != 0 {
		return 0
	}
	edge := t.edge()
	if t.order != 0 {
		if at := e.account.Known(t.order); at != nil && !t.away(e.joined(t.market, t.side), at.Price) {
			edge = at.Price // nearer than the edge
		}
	}
	if edge == 0 {
		return 0
	}
	tick := max(1, e.catalog.Market(t.market).TickSize)
	low := market.FloorTo(last, tick) // it does not leave, low+high does
	if t.side == market.Sell {
		low, tick = market.CeilTo(last, tick), -tick
	}
	leaves := func(p market.Price) bool { return t.away(e.joinedAt(t.market, t.side, p), edge) }
	high := tick
	for ; !leaves(low + high); high *= 2 {
		if low+high <= 0 || low+high > 4*max(edge, last) {
			return 0
		}
	}
	for high != tick {
		if high /= 2; !leaves(low + high) {
			low += high
		}
	}
	return low + high
}
