package backtest

import (
	"context"
	"slices"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// Rehearsal is the list of orders that the strategies of a plan decided over its candles.
type Rehearsal struct {
	Placed   []Placed       // orders that the gate let pass, with exits of brackets
	Refusals [][]risk.Count // by StrategyID − 1, most frequent first
	Halts    []engine.Halt
	Notes    [][]string // by StrategyID − 1: see strategy.Watcher
}

// Placed is an order with the market's latest price at its decision.
type Placed struct {
	market.Order
	Last market.Price
}

// Rehearse drives the plan as Run does and returns its orders, without a result. It returns
// ErrNoCandles where the range is empty.
func Rehearse(ctx context.Context, p *Plan) (*Rehearsal, error) {
	r, d := &Rehearsal{}, (*driver)(nil)
	d, err := drive(ctx, p, runOptions{told: true, began: func(begun *driver) {
		r.Placed, d = nil, begun
	},
		tracer: func(c *market.Command, _ market.Time) {
			if c.Kind == market.CommandPlace {
				r.Placed = append(r.Placed, Placed{c.Order, d.account.Last(c.Order.Market)})
			}
		}})
	if err != nil {
		return nil, err
	}
	for i := range p.Strategies {
		r.Refusals = append(r.Refusals, d.engine.Refused(market.StrategyID(i+1)))
		r.Notes = append(r.Notes, d.engine.Notes(market.StrategyID(i+1)))
	}
	r.Halts = slices.Clone(d.engine.Halts())
	return r, nil
}
