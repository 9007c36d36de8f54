package plan

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// addAccount reads the limits of the account, without the amounts of money.
func (p *Plan) addAccount() error {
	r := &p.sections.Risk
	p.Limits.RefuseOpposite = r.Opposite == config.OppositeRefuse
	if err := checkOpposite(r.Opposite); err != nil {
		return err
	}
	if err := takeLimits([]string{"risk"}, &p.Limits, r, nil); err != nil {
		return err
	}
	if err := p.addVolatility(); err != nil {
		return err
	}
	return p.checkAssets()
}

// takeLimits sets the limits that a section of the config has under the same Go name: with a
// currency the amounts of money, without one all others.
func takeLimits(path []string, limits, section any, currency *market.Asset) error {
	to, from := reflect.ValueOf(limits).Elem(), reflect.ValueOf(section).Elem()
	for _, f := range reflect.VisibleFields(from.Type()) {
		into, value := to.FieldByName(f.Name), from.FieldByIndex(f.Index).Interface()
		if _, money := value.(config.Decimal); !into.IsValid() || money != (currency != nil) {
			continue
		}
		var err error
		switch x := value.(type) {
		case config.Decimal:
			var amount market.Money
			amount, err = x.Money(currency)
			into.SetInt(int64(amount))
		case config.Part:
			var rate market.Rate
			rate, err = x.Rate(market.RateDigits)
			into.SetInt(int64(rate))
		case config.Span:
			into.SetInt(int64(x))
		case int64:
			into.SetInt(x)
		case bool:
			into.SetBool(x)
		}
		if err != nil {
			return config.At(config.Join(path, f.Tag.Get("toml")), err)
		}
	}
	return nil
}

// addVolatility reads the interval of the returns that the account's volatility is estimated from.
// Returns of less than the longest candles of a strategy would be 0 again and again.
func (p *Plan) addVolatility() error {
	r := &p.sections.Risk
	if p.Limits.VolatilityTarget == 0 {
		return nil
	}
	slowest := slices.MaxFunc(p.Strategies, func(a, b backtest.StrategyPlan) int {
		return cmp.Compare(a.Interval, b.Interval)
	})
	p.Limits.VolatilityInterval = cmp.Or(r.VolatilityInterval, slowest.Interval)
	path := []string{"risk", "volatility_interval"}
	switch interval := p.Limits.VolatilityInterval; {
	case interval.Fixed() == 0:
		return config.Keyf(path, "months differ in length; want %s at most", market.Interval1W)
	case interval < slowest.Interval:
		return config.Keyf(path, "%s is shorter than the candles of strategy %s, %s", interval, slowest.Name,
			slowest.Interval)
	}
	return nil
}

// checkOpposite checks the word of risk.opposite.
func checkOpposite(word string) error {
	path := []string{"risk", "opposite"}
	switch word {
	case "":
		return nil
	case "cross":
		return config.Keyf(path, "%q is gone: orders of two strategies no longer change hands inside the bot; "+
			"want %q, or %q to send both to the exchange", word, config.OppositeRefuse, config.OppositeAllow)
	}
	return config.OneOf(path, word, config.OppositeAllow, config.OppositeRefuse)
}

// assetLimits is the table with the limits on the exposure of assets.
var assetLimits = []string{"risk", "max_asset_exposure"}

// checkAssets requires that each limit on the exposure of an asset is of one that a strategy
// trades: a mistyped symbol would be no limit. The markets of a universe are not known here.
func (p *Plan) checkAssets() error {
	traded := []string{risk.EveryAsset}
	for _, name := range p.sections.Names() {
		section := p.sections.Strategies[name]
		if section.Universe != nil {
			return nil
		}
		for _, in := range section.Markets {
			base, _, _ := strings.Cut(in, "-") // checkStrategy has checked the name
			traded = append(traded, base)
		}
	}
	for _, symbol := range slices.Sorted(maps.Keys(p.sections.Risk.MaxAssetExposure)) {
		if !slices.Contains(traded, symbol) {
			return config.Keyf(config.Join(assetLimits, symbol),
				"no strategy trades %q as a base asset; the nearest is %q, and %q is for all that are not listed",
				config.Clip(symbol), strategy.Nearest(symbol, traded[1:]), risk.EveryAsset)
		}
	}
	return nil
}

// readAssetLimits reads the limits on the exposure of assets in units of the currency.
func (p *Plan) readAssetLimits(currency *market.Asset) error {
	p.Limits.MaxAssetExposure = nil
	texts := p.sections.Risk.MaxAssetExposure
	for _, symbol := range slices.Sorted(maps.Keys(texts)) {
		limit, err := texts[symbol].Money(currency)
		if err != nil {
			return config.At(config.Join(assetLimits, symbol), err)
		}
		if p.Limits.MaxAssetExposure == nil {
			p.Limits.MaxAssetExposure = map[string]market.Money{}
		}
		p.Limits.MaxAssetExposure[symbol] = limit
	}
	return nil
}

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
			return sandbox.Config{}, p.Config.Source.Place(config.Keyf([]string{"paper", "start", symbol},
				"no market of the strategies has this asset"))
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
