package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Plan holds the strategies, limits and allocations of a config. A backtest, a live bot and the
// doctor begin with the same plan. It is made without candles and without an exchange, so that
// mistakes in a config show first. The catalog is empty at first: a backtest fills it from its
// candles, a live bot from the exchange.
//
// backtest.Plan holds the other parts of a run over candles (feeds, range, deposits). It knows no
// config, so that a program can make one without this package.
type Plan struct {
	Catalog     *market.Catalog
	Currency    *market.Asset
	Strategies  []backtest.StrategyPlan // in the order of their names
	Limits      risk.AccountLimits
	Fees        backtest.Fees
	Allocations []market.Money // of the currency, by StrategyID; 0: the strategy shares the pool

	sections config.Trading
	kinds    []strategy.Definition
}

// newPlan checks everything but the amounts of money, which ReadAmounts reads. Its errors are about
// keys.
func newPlan(s config.Trading, kinds []strategy.Definition) (Plan, error) {
	p := Plan{Catalog: &market.Catalog{}, sections: s, kinds: kinds}
	for _, step := range [...]func() error{p.addFees, p.addStrategies, p.addAccount} {
		if err := step(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// ReadAmounts reads the amounts of money in units of the currency. A live bot calls it again once
// it knows the exchange's units.
func (p *Plan) ReadAmounts(currency *market.Asset) error {
	p.Currency, p.Limits.Currency = currency, currency.ID
	p.Allocations = make([]market.Money, len(p.Strategies)+1)
	if err := takeLimits([]string{"risk"}, &p.Limits, &p.sections.Risk, currency); err != nil {
		return err
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		section, path := p.sections.Strategies[s.Name], []string{"strategies", s.Name}
		err := takeLimits(config.Join(path, "risk"), &s.Limits, &section.Risk, currency)
		if err != nil {
			return err
		}
		if p.Allocations[i+1], err = section.Allocation.Money(currency); err != nil {
			return config.At(config.Join(path, "allocation"), err)
		}
		s.Own = p.Allocations[i+1] > 0
	}
	return p.readAssetLimits(currency)
}

// addFees reads the fees. A maker fee below zero is a rebate, which the exchange pays (venue-facts
// 3.5).
func (p *Plan) addFees() (err error) {
	if p.Fees.Taker, err = p.sections.TakerFee.Rate(market.RateDigits); err != nil {
		return config.At([]string{"account", "taker_fee"}, err)
	}
	path := []string{"account", "maker_fee"}
	digits, rebate := strings.CutPrefix(string(p.sections.MakerFee.Decimal), "-")
	if p.Fees.Maker, err = config.Decimal(digits).Rate(market.RateDigits); err != nil || !rebate {
		return config.At(path, err)
	}
	if p.Fees.Maker > p.Fees.Taker {
		return config.Keyf(path, "a rebate of %s is more than the taker pays", digits)
	}
	p.Fees.Maker = -p.Fees.Maker
	return nil
}

// FeesOf returns the fees of a market: one rate for all.
func (p *Plan) FeesOf(*market.Market) exchange.Fees { return exchange.Fees(p.Fees) }

// Names lists the strategies by StrategyID, from 1.
func (p *Plan) Names() (names []string) {
	for i := range p.Strategies {
		names = append(names, p.Strategies[i].Name)
	}
	return names
}

// Unlimited lists the limits that are not set, a line for each scope.
func (p *Plan) Unlimited() (lines []string) {
	add := func(scope string, names []string) {
		if len(names) > 0 {
			lines = append(lines, fmt.Sprintf("no limit: %s: %s", scope, strings.Join(names, ", ")))
		}
	}
	add("account", p.Limits.Unlimited())
	for i := range p.Strategies {
		add("strategy "+p.Strategies[i].Name, p.Strategies[i].Limits.Unlimited())
	}
	return lines
}

// usualDigits are the decimals of an asset without a section.
func usualDigits(symbol string) uint8 {
	switch symbol {
	case "EUR":
		return 2
	case "USDC":
		return 6
	}
	return 8
}

// hash is a SHA-256 over the settings that decide the outcome, defaults included. The form in which
// they were written, the file of the store and the outputs are not in it.
func (p *Plan) hash(c config.Backtest) (string, error) {
	c.Report, c.Data.Candles = config.ReportSection{}, ""
	if c.Risk.Opposite == config.OppositeAllow {
		c.Risk.Opposite = "" // the default
	}
	c.Strategies = make(map[string]config.StrategySection, len(p.Strategies))
	for i := range p.Strategies {
		s := &p.Strategies[i]
		section := p.sections.Strategies[s.Name]
		settings, err := s.Kind.Resolve(s.Values)
		if err != nil {
			return "", err
		}
		section.Params, section.Rules = make(map[string]any, len(settings)), nil
		for _, s := range settings {
			section.Params[s.Name] = s.Text
		}
		c.Strategies[s.Name] = section
	}
	text, err := json.Marshal(&c)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}
