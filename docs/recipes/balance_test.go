package recipes_test

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// recipe
type balance struct {
	strategy.Base
	weights []strategy.Weight
}

func (s *balance) OnCandles(d *strategy.Desk, g strategy.Group) {
	if midnight := market.Interval1d.Aligned(g.End); midnight && len(g.Missing) == 0 {
		d.Rebalance(strategy.Portfolio{Weights: s.weights, Band: 5 * market.Percent})
	}
}

// end

var balanceDefinition = strategy.Define("balance", "keeps the same share of each market",
	func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(_ struct{}, setup strategy.Setup) (strategy.Strategy, error) {
		s := &balance{}
		for _, m := range setup.Markets {
			s.weights = append(s.weights, strategy.Weight{Market: m.ID, Share: 40 * market.Percent})
		}
		return s, nil
	})
