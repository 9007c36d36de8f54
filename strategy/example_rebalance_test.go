package strategy_test

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// mix keeps 60 % of its equity in the first market and 30 % in the second; the rest stays cash.
type mix struct {
	strategy.Base
	first, second market.ID
}

func (s *mix) OnCandles(d *strategy.Desk, _ strategy.Group) {
	d.Rebalance(strategy.Portfolio{
		Weights: []strategy.Weight{
			{Market: s.first, Share: 60 * market.Percent},
			{Market: s.second, Share: 30 * market.Percent},
		},
		Band: 2 * market.Percent,
	})
}

// ExampleDesk_Rebalance shows two markets that are kept at their weights.
func ExampleDesk_Rebalance() {
	var bench strategytest.Bench
	btc, eth := bench.Market("BTC-EUR", 2, 4, 1000_00), bench.Market("ETH-EUR", 2, 4, 0)
	s := &mix{first: btc.ID, second: eth.ID}
	bench.Group(s, bench.Desk(), market.Candle{Market: btc.ID, Interval: market.Interval1d, Close: 100_00},
		market.Candle{Market: eth.ID, Interval: market.Interval1d, Close: 10_00})
	for _, line := range bench.Asked() {
		fmt.Println(line)
	}
	// Output: rebalance 60% BTC-EUR 30% ETH-EUR band 2%
}
