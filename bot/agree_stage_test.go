package bot

import "github.com/stretchr/testify/require"

// agree requires that the exchange and the state file of a bot that has ended tell the same story: every order with its status, amounts
// and fees, every fill, no order that only one of them has, and the balances.
func (s *stage) agree(p *process) audit {
	a := s.agreeOnFile()
	after := s.holdings()
	for _, asset := range p.plan.Catalog.Assets() {
		ours := p.account.Total(asset.ID)
		if asset.ID == p.plan.Currency.ID {
			ours.Total -= p.plan.Allocations[1]
		}
		require.Equal(s.t, after[asset.ID]-s.before[asset.ID], ours.Total, "balance of %s", asset.Symbol)
	}
	if g := &s.traffic.gauge; g.money > 0 {
		require.InDelta(s.t, float64(after[g.market.Base]-s.before[g.market.Base])/1e8, g.told.base, 1e-8, "what the bot was told of its fills")
		require.InDelta(s.t, float64(after[g.market.Quote]-s.before[g.market.Quote])/100, g.cash, 0.01*float64(1+a.fills))
	}
	return a
}
