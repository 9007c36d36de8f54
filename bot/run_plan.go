package bot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// runPlan is a config of `bot run` that has been checked, first without the exchange and then with what that tells.
type runPlan struct {
	tradePlan
	access
	alertPlaces []*alertPlace
	configHash  string // of the settings that decide what is traded; empty until the exchange has told its units
}

// newRunPlan checks all of a config but what only the exchange knows.
func newRunPlan(c *config.Run, kinds []strategy.Kind, getenv func(string) string) (*runPlan, error) {
	p := &runPlan{access: access{config: c}}
	for _, step := range [...]func() error{
		func() error { return p.checkSections(getenv) }, func() error { return p.readKeys(getenv) }, func() error { return p.addTrading(kinds) },
	} {
		if err := step(); err != nil {
			return nil, c.Source.Place(err)
		}
	}
	return p, nil
}

// checkSections looks at what is not about strategies.
func (p *runPlan) checkSections(getenv func(string) string) error {
	if !slices.Contains(config.LogLevels, p.config.Bot.Log) {
		return config.At([]string{"bot", "log"}, fmt.Errorf("%q is not one of %s", config.Clip(p.config.Bot.Log), strings.Join(config.LogLevels, ", ")))
	}
	if !slices.Contains(config.Modes, p.config.Bot.Mode) {
		return config.At([]string{"bot", "mode"}, fmt.Errorf("%q is not one of %s", config.Clip(p.config.Bot.Mode), strings.Join(config.Modes, ", ")))
	}
	if start := p.config.Paper.Start[p.config.Account.Currency]; p.config.Bot.Mode == config.ModePaper && strings.Trim(string(start), "0.") == "" {
		return config.At([]string{"paper", "start", p.config.Account.Currency}, errors.New("is missing; paper mode has to know how much money it begins with"))
	}
	if p.config.Bot.SaveKB == 0 {
		return config.At([]string{"bot", "save_kb"}, errors.New("0 would halt every strategy that has a state; want 1 at least"))
	}
	if p.config.Bot.State == "" {
		return config.At([]string{"bot", "state"}, errors.New("is empty; want a folder, like \"state\""))
	}
	if after := time.Duration(p.config.Exchange.CancelAfter); after < 150*time.Second || after > 300*time.Second {
		return config.At([]string{"exchange", "cancel_after"}, fmt.Errorf("%s is not in 150s to 300s", after))
	}
	if err := p.checkBounds(); err != nil {
		return err
	}
	var err error
	if p.alertPlaces, err = newAlertPlaces(&p.config.Alerts, getenv); err != nil {
		return err
	}
	if err := p.config.Metrics.Check(); err != nil {
		return err
	}
	for name, s := range p.config.Strategies {
		if s.OperatorID == 0 {
			return config.At([]string{"strategies", name, "operator_id"}, errors.New("is missing; the exchange wants a number for every trader or bot, and this bot knows its orders by it"))
		}
	}
	return nil
}

// addTrading plans strategies and limits, with amounts in the usual decimals of the currency: those of the exchange are not known yet.
func (p *runPlan) addTrading(kinds []strategy.Kind) (err error) {
	if p.config.Account.Currency == "" {
		return config.Keyf([]string{"account", "currency"}, "want the symbol of an asset, like EUR")
	}
	if p.tradePlan, err = newTradePlan(p.config.Trading(), kinds); err != nil {
		return err
	}
	currency, err := new(market.Catalog).AddAsset(p.config.Account.Currency, usualDigits(p.config.Account.Currency))
	if err != nil {
		return err
	}
	if err := p.in(currency); err != nil {
		return err
	}
	if err := p.checkAges(); err != nil {
		return err
	}
	if missing := p.unlimited(); p.config.Bot.NeedLimits && len(missing) > 0 {
		return config.Keyf([]string{"risk"}, "bot.need_limits is set, and there is %s", strings.Join(missing, "; "))
	}
	return nil
}

// learn finishes the plan with those markets and assets that are traded.
func (p *runPlan) learn(l listing) error {
	traded := map[string]bool{}
	for _, s := range p.config.Strategies {
		for _, name := range s.Markets {
			traded[name] = true
		}
	}
	markets := slices.DeleteFunc(l.Markets, func(m rest.Market) bool { return !traded[m.Name] })
	slices.SortFunc(markets, func(a, b rest.Market) int { return strings.Compare(a.Name, b.Name) }) // as a backtest has them
	needed := map[string]bool{p.config.Account.Currency: true}
	for i := range markets {
		needed[markets[i].Base], needed[markets[i].Quote] = true, true
		delete(traded, markets[i].Name)
	}
	for name := range traded {
		return p.config.Source.Place(config.At([]string{"strategies"}, fmt.Errorf("the exchange has no market %s", name)))
	}
	assets := slices.DeleteFunc(l.Assets, func(a rest.Asset) bool { return !needed[a.Symbol] })
	catalog, leftOut := rest.BuildCatalog(assets, markets)
	for _, why := range leftOut {
		return fmt.Errorf("the exchange's markets: %w", why)
	}
	return p.settle(catalog)
}

// settle takes the exchange's catalog, with the amounts in its units.
func (p *runPlan) settle(catalog *market.Catalog) (err error) {
	currency := catalog.AssetNamed(p.config.Account.Currency)
	if currency == nil {
		return p.config.Source.Place(config.Keyf([]string{"account", "currency"}, "the exchange has no asset %s", p.config.Account.Currency))
	}
	p.Catalog = catalog
	if err := p.in(currency); err != nil {
		return p.config.Source.Place(err)
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		s.Markets = nil
		for _, traded := range p.config.Strategies[s.Name].Markets {
			s.Markets = append(s.Markets, catalog.MarketNamed(traded))
		}
	}
	p.configHash, err = p.hash(p.settings())
	return err
}

// settings are those of which a hash is kept: the config of a backtest with the same ones. So a hash in a state file of any age can be
// compared.
func (p *runPlan) settings() config.Backtest {
	c, s := *config.DefaultBacktest(), &p.sections
	c.Account.Currency, c.Account.MakerFee, c.Account.TakerFee, c.Risk = s.Currency, s.MakerFee, s.TakerFee, s.Risk
	c.Assets = map[string]config.AssetSection{s.Currency: {Decimals: int64(p.Currency.Digits)}}
	return c
}

// name is the bot's, by which alerts tell it from others: letters, digits and what a header may hold.
func (p *runPlan) name() string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, cmp.Or(p.config.Bot.Name, p.config.Source.Label()))
}

// fees are what the gate reckons with.
func (p *runPlan) fees(*market.Market) exchange.Fees { return exchange.Fees(p.Fees) }

// groups are the cancel-on-disconnect groups of the strategies.
func (p *runPlan) groups() (groups []uint16) {
	for i := range p.Strategies {
		if g := p.Strategies[i].Limits.CodGroupID; g != 0 && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return groups
}
