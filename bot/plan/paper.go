package plan

import (
	"errors"
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// PaperExchange is the config of paper mode's simulated exchange: the traded markets, and one
// account with the balances of paper.start. A state file at path that exists replaces these
// balances. The exchange's time begins at now.
func (p *Live) PaperExchange(path string, now market.Time) (sandbox.Config, error) {
	// the default keys: no other process can reach this exchange
	account := sandbox.Account{Name: "paper", Balances: map[string]string{},
		Keys: slices.Clone(sandbox.Default().Accounts[0].Keys)}
	for _, symbol := range slices.Sorted(maps.Keys(p.Config.Paper.Start)) {
		asset := p.Catalog.AssetNamed(symbol)
		if asset == nil {
			return sandbox.Config{}, p.Config.Source.Place(config.At([]string{"paper", "start", symbol},
				errors.New("no market of the strategies has this asset")))
		}
		if _, err := p.Config.Paper.Start[symbol].Fixed(asset.Digits); err != nil {
			return sandbox.Config{}, p.Config.Source.Place(config.At([]string{"paper", "start", symbol}, err))
		}
		account.Balances[symbol] = string(p.Config.Paper.Start[symbol])
	}
	config := sandbox.Config{
		Accounts: []sandbox.Account{account},
		Tiers:    []sandbox.Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": p.FeesOf(nil)}}},
		Clock:    sandbox.NewClock(now, 1),
		Budget:   api.Budget{PerKey: -1, PerIP: -1},
		Rules:    sandbox.Rules{GroupsPerAccount: 1000},
		State:    path,
	}
	for _, a := range p.Catalog.Assets() {
		config.Assets = append(config.Assets, sandbox.Asset{Symbol: a.Symbol, Decimals: a.Digits})
	}
	for _, m := range p.Catalog.Markets() {
		config.Markets = append(config.Markets, sandbox.Market{
			Name: m.Name, PriceDigits: m.PriceDigits, TickSize: m.FormatPrice(m.TickSize),
			QuantityDecimals: m.QuantityDecimals, NotionalDecimals: m.NotionalDecimals,
			MinOrderInBase: m.FormatQty(m.MinOrderInBase), MinOrderInQuote: m.FormatMoney(m.MinOrderInQuote),
			MaxOrderInBase:  m.FormatQty(m.MaxOrderInBase),
			MaxOrderInQuote: m.FormatMoney(m.MaxOrderInQuote), MaxOpenOrders: m.MaxOpenOrders,
			FeeCategory: m.FeeCategory, Status: m.Status,
			Liquidity: sandbox.Liquidity{Levels: 1, Endless: true},
		})
	}
	return config, nil
}
