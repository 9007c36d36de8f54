package runner

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// balancerKind is a strategy that rebalances two markets at any moment to weights by chance, also
// while the orders of the plan before are on their way. Some of the base has exits.
var balancerKind = strategy.Define("balancer", "rebalances two markets",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p restlessParams, s strategy.Setup) (strategy.Strategy, error) {
		return &balancer{chance: rand.New(rand.NewPCG(uint64(p.Seed), 6)), markets: s.Markets}, nil
	})

type balancer struct {
	strategy.Base
	chance  *rand.Rand
	markets []*market.Market
}

func (s *balancer) OnTicker(d *strategy.Desk, t market.Ticker) {
	switch s.chance.IntN(10) {
	case 0:
	case 1:
		_, _ = d.In(t.Market).Buy(strategy.Amount(500_000), strategy.StopAt(t.Last.Below(market.Percent)),
			strategy.TargetAt(t.Last.Above(market.Percent)), strategy.Trail(market.Percent), strategy.ByPrices())
		return
	default:
		return
	}
	first := market.Rate(s.chance.IntN(7))
	_ = d.Rebalance(strategy.Portfolio{Band: market.Percent, Weights: []strategy.Weight{
		{Market: s.markets[0].ID, Share: first * market.Percent},
		{Market: s.markets[1].ID, Share: (6 - first) * market.Percent}}})
}

// legsSeen counts the fills of both sides: an observer.
type legsSeen struct{ sold, bought atomic.Int64 }

func (n *legsSeen) Filled(o *state.Order, _ *market.Fill) {
	if o.Side == market.Sell {
		n.sold.Add(1)
	} else {
		n.bought.Add(1)
	}
}

func (n *legsSeen) Closed(*state.Order)                                   {}
func (n *legsSeen) Approved(state.Terms, *market.Command, []state.Figure) {}

// balancers is a stage with two markets, on which balancerKind trades.
func balancers(t *testing.T, seed uint64, faults ...fault.Fault) *stage {
	s := playingAt(t, seed, balancerKind, &legsSeen{}, func(c *sandbox.Config) {
		c.Faults = faults
		c.Assets = append(c.Assets, sandbox.Asset{Symbol: "ETH", Decimals: 8})
		second := c.Markets[0]
		second.Name = "ETH-EUR"
		c.Markets = append(c.Markets, second)
	})
	s.edit(`["BTC-EUR"]`, `["BTC-EUR", "ETH-EUR"]`)
	return s
}

// conserved requires that no more was sold than was bought, and that books and exchange have the
// same money and the same base.
func (s *stage) conserved(p *process) {
	after := s.Holdings()
	for _, asset := range p.plan.Catalog.Assets() {
		ours := p.account.Total(asset.ID)
		if asset.ID == p.plan.Currency.ID {
			ours.Total -= p.plan.Allocations[1]
		} else {
			require.GreaterOrEqual(s.T, after[asset.ID], s.Before[asset.ID], "base of others was sold")
		}
		require.Equal(s.T, after[asset.ID]-s.Before[asset.ID], ours.Total, "balance of %s", asset.Symbol)
	}
	available, _ := p.account.Balance(1, p.plan.Currency.ID)
	require.GreaterOrEqual(s.T, available, market.Money(0))
	require.NoError(s.T, p.account.Check())
}
