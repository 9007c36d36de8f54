// Package codec writes and reads binary records: numbers, texts, and markets, assets and strategies by their names, so that a process
// with another catalog can read them. It knows neither files nor the order of fields. Start at Encoder and Decoder.
//
// Records of the state file and of the recording are sequences of these, without names or padding:
//
//	Uint, id      unsigned LEB128
//	Int           zigzag, then LEB128
//	Value         128-bit zigzag, then LEB128
//	Bytes, text   length, then the bytes
//	Flags         up to eight booleans in one byte
//	UUID          16 bytes
//	Market        name as text and its price decimals; prices and values that follow are in its units. No market: empty text alone
//	Asset         symbol as text
//	Strategy      name as text
//
// Names stand for the numbers that markets, assets and strategies have in one process only, so that a file can be read by a
// program whose config lists others.
package codec

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Names turns the numbers of one process into names and back.
type Names struct {
	Catalog    *market.Catalog
	strategies []string // by StrategyID; the first is empty
	markets    map[string]*market.Market
	Assets     map[string]*market.Asset
}

// NewNames numbers markets and assets by a catalog, strategies by their place in the list, from 1.
func NewNames(catalog *market.Catalog, strategies []string) *Names {
	n := &Names{Catalog: catalog, strategies: append([]string{""}, strategies...), markets: map[string]*market.Market{}, Assets: map[string]*market.Asset{}}
	for _, m := range catalog.Markets() {
		n.markets[m.Name] = m
	}
	for _, a := range catalog.Assets() {
		n.Assets[a.Symbol] = a
	}
	return n
}

// StrategyName is empty for no strategy, and for one that the engine does not have.
func (n *Names) StrategyName(id market.StrategyID) string {
	if int(id) < len(n.strategies) {
		return n.strategies[id]
	}
	return ""
}

func (n *Names) strategyID(name string) market.StrategyID {
	return market.StrategyID(max(0, slices.Index(n.strategies, name)))
}
