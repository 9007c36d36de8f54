package bot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// runPlan is a config of `bot run` that has been checked, first without the exchange and then with what that tells.
type runPlan struct {
	*runConfig
	kinds       []strategy.Kind
	key, secret string
	getenv      func(string) string
	alertPlaces []*alertPlace
	transport   http.RoundTripper               // to the exchange; nil: over the network
	now         func() time.Time                // the machine's clock; nil: that it has
	slept       func() market.Duration          // how far that has run ahead of the machine's uptime; nil: as it is
	witness     witness                         // hears of what is traded; nil: nobody
	within      func(http.Handler) http.Handler // stands before the exchange of paper mode; nil: nothing
	faults      func(point string)              // of tests: called between two steps of the kill switch and of what books it; nil: not called

	catalog    *market.Catalog
	currency   *market.Asset
	strategies []backtest.StrategyPlan
	allotments []market.Money // by StrategyID; 0: the strategy shares the pool
	checked    *planner
	hash       string
}

// witness hears every command that the gate lets pass, every fill and every order that has ended, in their order.
type witness interface {
	engine.Observer
	engine.Approver
}

// newRunPlan checks all of a config but what only the exchange knows.
func newRunPlan(c *runConfig, kinds []strategy.Kind, getenv func(string) string) (*runPlan, error) {
	p := &runPlan{runConfig: c, kinds: kinds, getenv: getenv}
	if err := p.checkSections(); err != nil {
		return nil, c.source.place(err)
	}
	if err := p.readKeys(getenv); err != nil {
		return nil, c.source.place(err)
	}
	return p, c.source.place(p.check(-1))
}

// readKeys finds key and secret where the config says that they are.
func (p *runPlan) readKeys(getenv func(string) string) error {
	e, keys := &p.Exchange, secrets{getenv: getenv}
	key, err := keys.read([]string{"exchange"}, "key", e.Key, e.KeyFile, e.KeyEnv)
	if err != nil {
		return err
	}
	words, err := keys.read([]string{"exchange"}, "secret", e.Secret, e.SecretFile, e.SecretEnv)
	if err != nil {
		return err
	}
	p.key, p.secret = key.text, words.text
	if p.Bot.Mode == modePaper && p.key == "" && p.secret == "" {
		return nil // market data is public
	}
	if p.key == "" || p.secret == "" {
		return at([]string{"exchange", "key"}, errors.New("key and secret are missing; name them by key_env and secret_env, or key_file and secret_file"))
	}
	return nil
}

// checkSections looks at what is not about strategies.
func (p *runPlan) checkSections() error {
	if !slices.Contains(logLevels, p.Bot.Log) {
		return at([]string{"bot", "log"}, fmt.Errorf("%q is not one of %s", clip(p.Bot.Log), strings.Join(logLevels, ", ")))
	}
	if !slices.Contains(modes, p.Bot.Mode) {
		return at([]string{"bot", "mode"}, fmt.Errorf("%q is not one of %s", clip(p.Bot.Mode), strings.Join(modes, ", ")))
	}
	if start := p.Paper.Start[p.Account.Currency]; p.Bot.Mode == modePaper && strings.Trim(string(start), "0.") == "" {
		return at([]string{"paper", "start", p.Account.Currency}, errors.New("is missing; paper mode has to know how much money it begins with"))
	}
	if p.Bot.SaveKB == 0 {
		return at([]string{"bot", "save_kb"}, errors.New("0 would halt every strategy that has a state; want 1 at least"))
	}
	if p.Bot.State == "" {
		return at([]string{"bot", "state"}, errors.New("is empty; want a folder, like \"state\""))
	}
	if after := time.Duration(p.Exchange.CancelAfter); after < 150*time.Second || after > 300*time.Second {
		return at([]string{"exchange", "cancel_after"}, fmt.Errorf("%s is not in 150s to 300s", after))
	}
	if err := p.checkBounds(); err != nil {
		return err
	}
	var err error
	if p.alertPlaces, err = newAlertPlaces(&p.Alerts, p.getenv); err != nil {
		return err
	}
	if err := p.Metrics.check(); err != nil {
		return err
	}
	for name, s := range p.Strategies {
		if s.OperatorID == 0 {
			return at([]string{"strategies", name, "operator_id"}, errors.New("is missing; the exchange wants a number for every trader or bot, and this bot knows its orders by it"))
		}
	}
	return nil
}

// check plans strategies and limits. decimals are those of the currency, below 0 where they are not known yet.
func (p *runPlan) check(decimals int64) error {
	c := &planner{backtestConfig: p.trading(decimals), kinds: p.kinds, plan: &backtest.Plan{Catalog: &market.Catalog{}}}
	for _, step := range [...]func() error{c.addAssets, c.addVenue, c.addStrategies, c.addAccount} {
		if err := step(); err != nil {
			return err
		}
	}
	p.allotments = make([]market.Money, len(c.plan.Strategies)+1)
	for i, name := range c.names() {
		if err := c.money([]string{"strategies", name, "allotment"}, c.Strategies[name].Allotment, &p.allotments[i+1]); err != nil {
			return err
		}
		c.plan.Strategies[i].Own = p.allotments[i+1] > 0
	}
	p.checked, p.strategies = c, c.plan.Strategies
	if err := p.checkAges(); err != nil {
		return err
	}
	if missing := c.unlimited(); p.Bot.NeedLimits && len(missing) > 0 {
		return at([]string{"risk"}, fmt.Errorf("bot.need_limits is set, and there is %s", strings.Join(missing, "; ")))
	}
	return nil
}

// client makes the client of the exchange. Its budget follows the ledger's rules.
func (p *runPlan) client(budget rest.Budget) (*rest.Client, error) {
	e := &p.Exchange
	c, err := rest.New(rest.Config{
		BaseURL: e.BaseURL, Key: rest.NewSecret(p.key), Secret: rest.NewSecret(p.secret), Prefix: e.Prefix, Window: market.Duration(e.Window),
		Weights: e.weights(), SignPublic: e.SignMarketData, Budget: budget,
		Transport: p.transport, Now: p.now,
	})
	if err != nil {
		return nil, p.source.place(at([]string{"exchange"}, err))
	}
	return c, nil
}

// allMarkets stands behind the name of an endpoint whose weight for all markets is meant.
const allMarkets = " all"

// weights are those of the config as the client takes them: over the table's.
func (e *remoteSection) weights() map[string]rest.Weight {
	changed := map[string]rest.Weight{}
	for given, points := range e.Weights {
		name, all := strings.CutSuffix(given, allMarkets)
		w, known := changed[name]
		if !known {
			w, _ = rest.WeightOf(name)
		}
		if all {
			w.All = int(points)
		} else {
			w.One = int(points)
		}
		changed[name] = w
	}
	return changed
}

// listing is what the exchange offers.
type listing struct {
	assets  []rest.Asset
	markets []rest.Market
}

// ask asks the exchange for its time, assets and markets.
func (p *runPlan) ask(ctx context.Context, c *rest.Client) (l listing, err error) {
	if err = c.Sync(ctx); err != nil {
		return l, fmt.Errorf("ask %s: %w", p.Exchange.origin(), err)
	}
	if l.assets, err = c.Assets(ctx, ""); err == nil {
		l.markets, err = c.Markets(ctx, "")
	}
	if err == nil && (len(l.assets) == 0 || len(l.markets) == 0) {
		err = errors.New("the exchange lists no markets, or no assets") // which is an answer that went wrong
	}
	return l, err
}

// askUntil asks until the exchange answers, or ctx ends.
func (p *runPlan) askUntil(ctx context.Context, c *rest.Client, log zerolog.Logger) (l listing, err error) {
	err = live.Insist(ctx, log, func() (err error) {
		l, err = p.ask(ctx, c)
		return err
	})
	return l, err
}

// learn finishes the plan with those markets and assets that are traded.
func (p *runPlan) learn(l listing) error {
	traded := map[string]bool{}
	for _, s := range p.Strategies {
		for _, name := range s.Markets {
			traded[name] = true
		}
	}
	markets := slices.DeleteFunc(l.markets, func(m rest.Market) bool { return !traded[m.Name] })
	slices.SortFunc(markets, func(a, b rest.Market) int { return strings.Compare(a.Name, b.Name) }) // as a backtest has them
	needed := map[string]bool{p.Account.Currency: true}
	for i := range markets {
		needed[markets[i].Base], needed[markets[i].Quote] = true, true
		delete(traded, markets[i].Name)
	}
	for name := range traded {
		return p.source.place(at([]string{"strategies"}, fmt.Errorf("the exchange has no market %s", name)))
	}
	assets := slices.DeleteFunc(l.assets, func(a rest.Asset) bool { return !needed[a.Symbol] })
	catalog, leftOut := rest.BuildCatalog(assets, markets)
	for _, why := range leftOut {
		return fmt.Errorf("the exchange's markets: %w", why)
	}
	return p.settle(catalog)
}

// settle plans anew, in the units of the exchange.
func (p *runPlan) settle(catalog *market.Catalog) error {
	p.catalog, p.currency = catalog, catalog.AssetNamed(p.Account.Currency)
	if p.currency == nil {
		return p.source.place(at([]string{"account", "currency"}, fmt.Errorf("the exchange has no asset %s", p.Account.Currency)))
	}
	if err := p.check(int64(p.currency.Digits)); err != nil {
		return p.source.place(err)
	}
	p.checked.plan.Account.Currency = p.currency.ID
	for i, name := range p.checked.names() {
		for _, traded := range p.Strategies[name].Markets {
			p.strategies[i].Markets = append(p.strategies[i].Markets, catalog.MarketNamed(traded))
		}
	}
	var err error
	p.hash, err = p.checked.hash()
	return err
}

// name is the bot's, by which alerts tell it from others: letters, digits and what a header may hold.
func (p *runPlan) name() string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, orElse(p.Bot.Name, p.source.label()))
}

// names lists the strategies by StrategyID, from 1.
func (p *runPlan) names() (names []string) {
	for i := range p.strategies {
		names = append(names, p.strategies[i].Name)
	}
	return names
}

// fees are what the gate reckons with.
func (p *runPlan) fees(*market.Market) exchange.Fees { return exchange.Fees(p.checked.plan.Fees) }

// groups are the cancel-on-disconnect groups of the strategies.
func (p *runPlan) groups() (groups []uint16) {
	for i := range p.strategies {
		if g := p.strategies[i].Limits.CodGroupID; g != 0 && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return groups
}
