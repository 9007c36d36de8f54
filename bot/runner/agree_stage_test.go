package runner

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// agree requires that the exchange and the state file of a bot that has ended tell the same story:
// every order with its status, amounts and fees, every fill, no order that only one of them has,
// and the balances.
func (s *stage) agree(p *process) bottest.Audit {
	a := s.AgreeOnFile()
	after := s.Holdings()
	for _, asset := range p.plan.Catalog.Assets() {
		ours := p.account.Total(asset.ID)
		if asset.ID == p.plan.Currency.ID {
			for _, money := range p.plan.Allocations {
				ours.Total -= money
			}
		}
		require.Equal(s.T, after[asset.ID]-s.Before[asset.ID], ours.Total, "balance of %s", asset.Symbol)
	}
	if g := &s.traffic.gauge; g.money > 0 {
		require.InDelta(s.T, float64(after[g.market.Base]-s.Before[g.market.Base])/1e8, g.told.base, 1e-8,
			"what the bot was told of its fills")
		require.InDelta(s.T, float64(after[g.market.Quote]-s.Before[g.market.Quote])/100, g.cash,
			0.01*float64(1+a.Fills))
	}
	if !testing.Short() { // see bottest.Unraced
		s.replayed()
	}
	return a
}
