package risk

import "github.com/tidemark-trading/tidemark/market"

// setAccount sets the account's limits.
func (g *Gate) setAccount(limits AccountLimits) {
	g.account, g.assetLimits = limits, nil
	if by := limits.MaxAssetExposure; len(by) > 0 {
		g.assetLimits = make([]market.Money, len(g.catalog.Assets())+1)
		for _, m := range g.catalog.Markets() {
			limit, listed := by[g.catalog.Asset(m.Base).Symbol]
			if !listed {
				limit = by[EveryAsset]
			}
			g.assetLimits[m.Base] = limit
		}
	}
	g.exposed = limits.MaxExposure > 0 || g.assetLimits != nil
	switch v := g.volatility; {
	case limits.VolatilityTarget == 0:
		g.volatility = nil
	case v == nil || v.interval != limits.VolatilityInterval:
		g.volatility = newVolatility(limits.VolatilityInterval, len(g.catalog.Markets())+1)
	}
}

// assetLimit is the limit on the exposure of a base asset; 0: none.
func (g *Gate) assetLimit(asset market.AssetID) market.Money {
	if g.assetLimits == nil {
		return 0
	}
	return g.assetLimits[asset]
}
