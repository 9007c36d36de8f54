package codec

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Names turns the numbers of one process into names and back.
type Names struct {
	catalog    *market.Catalog
	strategies []string // by StrategyID; the first is empty
	markets    map[string]*market.Market
	assets     map[string]*market.Asset
}

// NewNames numbers markets and assets by a catalog, strategies by their place in the list, from 1.
func NewNames(catalog *market.Catalog, strategies []string) *Names {
	n := &Names{catalog: catalog, strategies: append([]string{""}, strategies...),
		markets: map[string]*market.Market{}, assets: map[string]*market.Asset{}}
	for _, m := range catalog.Markets() {
		n.markets[m.Name] = m
	}
	for _, a := range catalog.Assets() {
		n.assets[a.Symbol] = a
	}
	return n
}

// Catalog returns the markets and assets that the numbers belong to.
func (n *Names) Catalog() *market.Catalog { return n.catalog }

// StrategyName returns a strategy's name. It is empty for 0 and for a number that no strategy has.
func (n *Names) StrategyName(id market.StrategyID) string {
	if int(id) < len(n.strategies) {
		return n.strategies[id]
	}
	return ""
}

func (n *Names) strategyID(name string) market.StrategyID {
	return market.StrategyID(max(0, slices.Index(n.strategies, name)))
}
