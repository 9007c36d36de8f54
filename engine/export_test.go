package engine

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// CheckBrackets is bracket.Set.Check of the engine's brackets.
func (e *Engine) CheckBrackets() error { return e.brackets.Check() }

// CheckTacticLevels compares the prices that tactics wait for with those that a walk from the
// latest price finds, one tick after the other. It returns how many tactics wait for one.
func (e *Engine) CheckTacticLevels() (waiting int, err error) {
	for _, t := range e.tactics {
		want, have := e.naiveLevel(t), e.level(t)
		if want != have {
			return 0, fmt.Errorf("tactic %d in phase %d at %d waits for %d, not %d", t.id, t.phase,
				e.account.Last(t.market), have, want)
		}
		if have != 0 {
			waiting++
		}
	}
	return waiting, nil
}

// naiveLevel is the first price on a tick, away from the latest price, at which the best price of a
// tactic's side leaves its order or its edge; 0: there is none up to twice the price.
func (e *Engine) naiveLevel(t *tactic) market.Price {
	m, last := e.catalog.Market(t.market), e.account.Last(t.market)
	if _, quoted := e.account.BestPrice(t.market, t.side); quoted || t.phase != working || t.Over != 0 {
		return 0
	}
	edges, ahead := []market.Price{t.edge()}, []market.Price(nil)
	if o := e.account.Known(t.order); t.order != 0 && o != nil {
		edges = append(edges, o.Price)
	}
	for _, edge := range edges {
		if edge != 0 && !t.away(e.joined(t.market, t.side), edge) {
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
			if t.away(e.joinedAt(t.market, t.side, p), edge) {
				return p
			}
		}
	}
	return 0
}
