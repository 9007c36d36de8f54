package strategytest

import (
	"errors"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Rebalance records the portfolio as a line; the test plays the orders itself.
func (e *engine) Rebalance(_ market.StrategyID, p strategy.Portfolio) error {
	if e.recalling {
		return errRecalling
	}
	if err := p.Check(&e.catalog); err != nil {
		return err
	}
	var line strings.Builder
	line.WriteString("rebalance")
	for _, w := range p.Weights {
		line.WriteString(" " + w.Share.String() + " " + e.catalog.Market(w.Market).Name)
	}
	if p.Band != 0 {
		line.WriteString(" band " + p.Band.String())
	}
	if p.ToEdge {
		line.WriteString(" to the edge")
	}
	if e.RefusePlan {
		e.asked = append(e.asked, line.String()+" refused")
		return errPlan
	}
	e.asked = append(e.asked, line.String())
	return nil
}

// errPlan is the answer to a portfolio while Bench.RefusePlan is set.
var errPlan = errors.New("refused: orders_per_minute")
