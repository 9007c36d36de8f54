package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Live is a config of `bot run` that has been checked, first without the exchange and then with
// what that tells.
type Live struct {
	Plan
	Access
	Receivers    []*alert.Receiver
	SettingsHash string // of the settings that decide what is traded; empty until the exchange has told its units
}

// NewLive checks all of a config but what only the exchange knows.
func NewLive(c *config.Run, kinds []strategy.Kind, getenv func(string) string) (*Live, error) {
	p := &Live{Access: Access{Config: c}}
	for _, step := range [...]func() error{
		func() error { return p.checkSections(getenv) }, func() error {
			return p.readKeys(
				getenv)
		}, func() error { return p.addTrading(kinds) },
	} {
		if err := step(); err != nil {
			return nil, c.Source.Place(err)
		}
	}
	return p, nil
}

// checkSections looks at what is not about strategies.
func (p *Live) checkSections(getenv func(string) string) error {
	if !slices.Contains(config.LogLevels, p.Config.Bot.Log) {
		return config.At([]string{"bot", "log"}, fmt.Errorf("%q is not one of %s", config.Clip(p.Config.Bot.Log),
			strings.Join(config.LogLevels, ", ")))
	}
	if !slices.Contains(config.Modes, p.Config.Bot.Mode) {
		return config.At([]string{"bot", "mode"}, fmt.Errorf("%q is not one of %s", config.Clip(p.Config.Bot.Mode),
			strings.Join(config.Modes, ", ")))
	}
	if start := p.Config.Paper.Start[p.Config.Account.Currency]; p.Config.Bot.Mode == config.ModePaper &&
		strings.Trim(string(start), "0.") == "" {
		return config.At([]string{"paper", "start", p.Config.Account.Currency},
			errors.New("is missing; paper mode has to know how much money it begins with"))
	}
	if p.Config.Bot.SaveKB == 0 {
		return config.At([]string{"bot", "save_kb"},
			errors.New("0 would halt every strategy that has a state; want 1 at least"))
	}
	if p.Config.Bot.State == "" {
		return config.At([]string{"bot", "state"}, errors.New("is empty; want a folder, like \"state\""))
	}
	if after := time.Duration(p.Config.Exchange.CancelAfter); after < 150*time.Second || after > 300*time.Second {
		return config.At([]string{"exchange", "cancel_after"}, fmt.Errorf("%s is not in 150s to 300s", after))
	}
	if err := p.checkBounds(); err != nil {
		return err
	}
	var err error
	if p.Receivers, err = alert.NewReceivers(&p.Config.Alerts, getenv); err != nil {
		return err
	}
	if err := p.Config.Metrics.Check(); err != nil {
		return err
	}
	for name, s := range p.Config.Strategies {
		if s.OperatorID == 0 {
			return config.At([]string{"strategies", name, "operator_id"},
				errors.New("is missing; the exchange wants a number for every trader or bot, and this bot knows its "+
					"orders by it"))
		}
	}
	return nil
}

// addTrading plans strategies and limits, with amounts in the usual decimals of the currency: those
// of the exchange are not known yet.
func (p *Live) addTrading(kinds []strategy.Kind) (err error) {
	if p.Config.Account.Currency == "" {
		return config.Keyf([]string{"account", "currency"}, "want the symbol of an asset, like EUR")
	}
	if p.Plan, err = newPlan(p.Config.Trading(), kinds); err != nil {
		return err
	}
	currency, err := new(market.Catalog).AddAsset(p.Config.Account.Currency, usualDigits(p.Config.Account.Currency))
	if err != nil {
		return err
	}
	if err := p.In(currency); err != nil {
		return err
	}
	if err := p.checkAges(); err != nil {
		return err
	}
	if missing := p.Unlimited(); p.Config.Bot.NeedLimits && len(missing) > 0 {
		return config.Keyf([]string{"risk"}, "bot.need_limits is set, and there is %s", strings.Join(missing, "; "))
	}
	return nil
}

// Learn finishes the plan with those markets and assets that are traded.
func (p *Live) Learn(l Listing) error {
	traded := map[string]bool{}
	for _, s := range p.Config.Strategies {
		for _, name := range s.Markets {
			traded[name] = true
		}
	}
	markets := slices.DeleteFunc(l.Markets, func(m rest.Market) bool { return !traded[m.Name] })
	// as a backtest has them
	slices.SortFunc(markets, func(a, b rest.Market) int { return strings.Compare(a.Name, b.Name) })
	needed := map[string]bool{p.Config.Account.Currency: true}
	for i := range markets {
		needed[markets[i].Base], needed[markets[i].Quote] = true, true
		delete(traded, markets[i].Name)
	}
	for name := range traded {
		return p.Config.Source.Place(config.At([]string{"strategies"},
			fmt.Errorf("the exchange has no market %s", name)))
	}
	assets := slices.DeleteFunc(l.Assets, func(a rest.Asset) bool { return !needed[a.Symbol] })
	catalog, leftOut := rest.BuildCatalog(assets, markets)
	for _, why := range leftOut {
		return fmt.Errorf("the exchange's markets: %w", why)
	}
	return p.settle(catalog)
}

// settle takes the exchange's catalog, with the amounts in its units.
func (p *Live) settle(catalog *market.Catalog) (err error) {
	currency := catalog.AssetNamed(p.Config.Account.Currency)
	if currency == nil {
		return p.Config.Source.Place(config.Keyf([]string{"account", "currency"}, "the exchange has no asset %s",
			p.Config.Account.Currency))
	}
	p.Catalog = catalog
	if err := p.In(currency); err != nil {
		return p.Config.Source.Place(err)
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		s.Markets = nil
		for _, traded := range p.Config.Strategies[s.Name].Markets {
			s.Markets = append(s.Markets, catalog.MarketNamed(traded))
		}
	}
	p.SettingsHash, err = p.hash(p.settings())
	return err
}

// settings are those of which a hash is kept: the config of a backtest with the same ones. So a
// hash in a state file of any age can be compared.
func (p *Live) settings() config.Backtest {
	c, s := *config.DefaultBacktest(), &p.sections
	c.Account.Currency, c.Account.MakerFee, c.Account.TakerFee, c.Risk = s.Currency, s.MakerFee, s.TakerFee, s.Risk
	c.Assets = map[string]config.AssetSection{s.Currency: {Decimals: int64(p.Currency.Digits)}}
	return c
}

// Name is the bot's, by which alerts tell it from others: letters, digits and what a header may
// hold.
func (p *Live) Name() string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, cmp.Or(p.Config.Bot.Name, p.Config.Source.Label()))
}

// FeesOf are what the gate reckons with.
func (p *Plan) FeesOf(*market.Market) exchange.Fees { return exchange.Fees(p.Fees) }

// Groups are the cancel-on-disconnect groups of the strategies.
func (p *Live) Groups() (groups []uint16) {
	for i := range p.Strategies {
		if g := p.Strategies[i].Limits.CodGroupID; g != 0 && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return groups
}
