package tactic

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Watch notes in the watches, by market, what tactics wait for in the path of a backtest's candles.
// timer is the next timer of the engine; 0: there is none.
func (s *Set) Watch(watches []market.Watch, timer market.Time) {
	for m := range watches {
		w := &watches[m]
		w.Tactic, w.Timer, w.Fall, w.Rise = false, 0, 0, 0
	}
	for _, t := range s.all {
		w := &watches[t.market]
		watches[0].Tactic, w.Tactic = true, true
		switch level := s.level(t); {
		case level == 0:
		case t.side == market.Sell:
			w.Fall = max(w.Fall, level)
		case w.Rise == 0 || level < w.Rise:
			w.Rise = level
		}
	}
	if len(s.all) > 0 {
		watches[0].Timer = timer
	}
}

// level is the nearest price at which a tactic moves its order or takes its rest, where the price
// alone says so; 0: none.
func (s *Set) level(t *tactic) market.Price {
	last := s.account.Last(t.market)
	_, quoted := s.account.BestPrice(t.market, t.side)
	if quoted || last == 0 || t.phase != working || t.Over != 0 {
		return 0
	}
	edge := t.edge()
	if t.order != 0 {
		if at := s.account.Known(t.order); at != nil && !t.away(s.joined(t.market, t.side), at.Price) {
			edge = at.Price // nearer than the edge
		}
	}
	if edge == 0 {
		return 0
	}
	tick := max(1, s.catalog.Market(t.market).TickSize)
	low := market.FloorTo(last, tick) // it does not leave, low+high does
	if t.side == market.Sell {
		low, tick = market.CeilTo(last, tick), -tick
	}
	leaves := func(p market.Price) bool { return t.away(s.joinedAt(t.market, t.side, p), edge) }
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

// CheckLevels compares the prices that tactics wait for with those that a walk from the
// latest price finds, one tick after the other. It returns how many tactics wait for one.
func (s *Set) CheckLevels() (waiting int, err error) {
	for _, t := range s.all {
		want, have := s.naiveLevel(t), s.level(t)
		if want != have {
			return 0, fmt.Errorf("tactic %d in phase %d at %d waits for %d, not %d", t.id, t.phase,
				s.account.Last(t.market), have, want)
		}
		if have != 0 {
			waiting++
		}
	}
	return waiting, nil
}

// naiveLevel is the first price on a tick, away from the latest price, at which the best price of a
// tactic's side leaves its order or its edge; 0: there is none up to twice the price.
func (s *Set) naiveLevel(t *tactic) market.Price {
	m, last := s.catalog.Market(t.market), s.account.Last(t.market)
	if _, quoted := s.account.BestPrice(t.market, t.side); quoted || t.phase != working || t.Over != 0 {
		return 0
	}
	edges, ahead := []market.Price{t.edge()}, []market.Price(nil)
	if o := s.account.Known(t.order); t.order != 0 && o != nil {
		edges = append(edges, o.Price)
	}
	for _, edge := range edges {
		if edge != 0 && !t.away(s.joined(t.market, t.side), edge) {
			ahead = append(ahead, edge)
		}
	}
	tick := max(1, m.TickSize)
	p := market.FloorTo(last, tick)
	if t.side == market.Sell {
		p, tick = market.CeilTo(last, tick), -tick
	}
	for p += tick; len(ahead) > 0 && p > 0 && p <= 2*last; p += tick {
		for _, edge := range ahead {
			if t.away(s.joinedAt(t.market, t.side, p), edge) {
				return p
			}
		}
	}
	return 0
}
