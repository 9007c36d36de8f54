package risk

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

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

// AssetUse is the exposure of a base asset beside its limit, in units of the account's currency.
type AssetUse struct {
	Asset           market.AssetID
	Exposure, Limit market.Money
}

// AssetUses lists the base assets with a limit on their exposure, in the order of the catalog.
func (g *Gate) AssetUses(a *state.Account) (uses []AssetUse, err error) {
	for asset, limit := range g.assetLimits {
		if limit == 0 {
			continue
		}
		use := AssetUse{Asset: market.AssetID(asset), Limit: limit}
		if use.Exposure, err = a.AssetExposure(use.Asset, g.account.Currency); err != nil {
			return nil, fmt.Errorf("risk: %w", err)
		}
		uses = append(uses, use)
	}
	return uses, nil
}
