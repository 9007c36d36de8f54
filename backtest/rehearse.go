package backtest

import (
	"context"
	"slices"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// Rehearsal is what the strategies of a plan asked for over its candles.
type Rehearsal struct {
	Placed   []Placed       // the orders that the gate let pass, as they were decided; exits of brackets too
	Refusals [][]risk.Count // by StrategyID − 1, most frequent first
	Halts    []engine.Halt
}

// Placed is an order with the market's latest price when it was decided.
type Placed struct {
	market.Order
	Last market.Price
}

// Rehearse drives the plan as Run does and returns what it asked for, and no result. It returns
// ErrNoCandles where the range is empty.
func Rehearse(ctx context.Context, p *Plan) (*Rehearsal, error) {
	r, d := &Rehearsal{}, (*driver)(nil)
	d, err := drive(ctx, p, runOptions{began: func(begun *driver) { r.Placed, d = nil, begun },
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
	}
	r.Halts = slices.Clone(d.engine.Halts())
	return r, nil
}
