package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// bank moves the money of an exchange that no trade moves, and keeps its records: the rules of the
// assets, the fee schedule, the transfers under way, the transactions of the accounts, and what
// they all add up to. The balances are the venue's.
type bank struct {
	config   *Config
	catalog  *market.Catalog
	venue    *sim.Venue
	store    *store // nil: nothing is kept
	accounts accounts

	assets         []*assetRules // by market.AssetID, from 1
	assetsBySymbol []*assetRules // by symbol
	tiers          []tier
	currency       market.AssetID // of the tiers; 0: the exchange does not have it
	currencyDigits uint8
	rated          []*market.Market // by market.ID, from 1: QUOTE-EUR, or nil
	nextTierUpdate market.Time      // time of the next computation of the tiers
	inFlight       inFlight
	number         int64 // of the transfers and transactions so far

	transferred []market.Value // by market.AssetID: what accounts brought, less what they took away
	// by market.AssetID: what trades took from all accounts together, fees included; negative: gave
	// them
	liquidity []market.Value
}

// atBank lets the bank carry out the requests of an endpoint.
func atBank(do func(*bank, *api.Call) *exchange.Error) func(*Exchange, *api.Call) *exchange.Error {
	return func(ex *Exchange, c *api.Call) *exchange.Error { return do(ex.bank, c) }
}

// open reads the config's assets and fee schedule.
func (b *bank) open(now market.Time) error {
	for _, asset := range b.catalog.Assets() {
		v, err := b.openAssetRules(asset)
		if err != nil {
			return fmt.Errorf("asset %s: %w", asset.Symbol, err)
		}
		b.assets = append(b.assets, v)
	}
	b.assetsBySymbol = slices.SortedFunc(slices.Values(b.assets),
		func(a, b *assetRules) int { return strings.Compare(a.Symbol, b.Symbol) })
	return b.openTiers(now)
}

// nextID names a transfer or a transaction: as the venue names orders and trades, with a kind of
// its own and no market.
func (b *bank) nextID() (id uuid.UUID) {
	const kind = 2
	b.number++
	id[8] = kind
	for i := range 6 {
		id[15-i] = byte(b.number >> (8 * i))
	}
	return id
}
