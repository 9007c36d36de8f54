package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Live is the plan of a live bot. NewLive makes the part that needs no exchange, Finish the rest.
type Live struct {
	Plan
	Access
	Receivers    []*alert.Receiver
	Heartbeat    *alert.Heartbeat // nil: none
	Telegram     string           // the token of the chat; empty: it is off
	Door         Door             // of signals
	SettingsHash string           // of the settings that decide what is traded; empty until Finish
	Notes        []string         // of Finish, for the log: the members of each universe
	// Held are the markets, by strategy, in which an earlier run has left something: a strategy
	// with a universe trades them too, without buying. Set them before Finish.
	Held map[string][]string
	// Known are the markets of an earlier run; nil: there was none. A market that it has and the
	// exchange does not list has gone. Set them before Finish.
	Known *market.Catalog
	// Least is the smallest order in a market, as an earlier run knew it: less is dust, also where
	// the market has gone. nil: there was no earlier run.
	Least func(name string) (base market.Qty, quote market.Money)
	// Gone are the names of the markets that have gone. Finish sets them.
	Gone map[string]bool
	// Ranked are the rankings of an earlier run, by strategy: one of today is used again. Set them
	// before Finish.
	Ranked map[string]Ranking
	// Rankings are those of the universes, by strategy. Finish sets them.
	Rankings map[string]Ranking
}

// NewLive checks a config, except for the parts that depend on the exchange.
func NewLive(c *config.Run, kinds []strategy.Definition, getenv func(string) string) (*Live, error) {
	p := &Live{Access: Access{Config: c}}
	err := p.checkSections(getenv)
	if err == nil {
		err = p.readKeys(getenv)
	}
	if err == nil {
		err = p.addTrading(kinds)
	}
	if err != nil {
		return nil, c.Source.Place(err)
	}
	return p, nil
}

// NewCanary checks what a config decides: its strategies and limits. It needs no keys, and no
// exchange. Follow does the rest.
func NewCanary(c *config.Run, kinds []strategy.Definition) (*Live, error) {
	p := &Live{Access: Access{Config: c}}
	for name, s := range c.Strategies {
		if s.Universe != nil {
			return nil, c.Source.Place(config.Keyf([]string{"strategies", name, "universe"},
				"a bot with universes can only be followed with its own settings"))
		}
	}
	return p, c.Source.Place(p.addTrading(kinds))
}

// Follow completes the plan of NewCanary with the markets of a bot.
func (p *Live) Follow(catalog *market.Catalog) error {
	for i := range p.Strategies {
		for _, name := range p.namesOf(&p.Strategies[i]) {
			if catalog.MarketNamed(name) == nil {
				return p.Config.Source.Place(config.Keyf([]string{"strategies", p.Strategies[i].Name, "markets"},
					"the bot does not trade %s", name))
			}
		}
	}
	return p.setCatalog(catalog)
}

// checkSummary checks how days are counted and summed up.
func (p *Live) checkSummary() error {
	if _, err := time.LoadLocation(p.Config.Bot.Zone); err != nil || p.Config.Bot.Zone == "Local" {
		return config.Keyf([]string{"bot", "zone"}, "%q is no time zone that this machine knows; want UTC, or a name "+
			"like Europe/Berlin", config.Clip(p.Config.Bot.Zone))
	}
	if _, _, err := p.Config.Alerts.DailyAt(); err != nil {
		return err
	}
	return config.OneOf([]string{"alerts", "summary"}, p.Config.Alerts.Summary, config.SummaryOff, config.SummaryDaily,
		config.SummaryWeekly)
}

// Kinds is the kind of each strategy by name, as JSON.
func (p *Live) Kinds() []byte {
	kinds := map[string]string{}
	for i := range p.Strategies {
		kinds[p.Strategies[i].Name] = p.Strategies[i].Kind.Name
	}
	text, _ := json.Marshal(kinds) // names
	return text
}

// checkSections checks the sections that are not about strategies.
func (p *Live) checkSections(getenv func(string) string) error {
	if !slices.Contains(config.LogLevels, p.Config.Bot.Log) {
		return config.Keyf([]string{"bot", "log"}, "%q is not one of %s", config.Clip(p.Config.Bot.Log),
			strings.Join(config.LogLevels, ", "))
	}
	if !slices.Contains(config.Modes, p.Config.Bot.Mode) {
		return config.Keyf([]string{"bot", "mode"}, "%q is not one of %s", config.Clip(p.Config.Bot.Mode),
			strings.Join(config.Modes, ", "))
	}
	if err := checkStream(&p.Config.Stream); err != nil {
		return err
	}
	if at, err := url.Parse(p.Config.Exchange.BaseURL); p.Config.Bot.Mode == config.ModeSandbox &&
		(err != nil || !config.LoopbackHost(at.Hostname())) {
		return config.Keyf([]string{"bot", "mode"},
			"sandbox is for an exchange on this machine, and %s is none; want live", p.Config.Exchange.Origin())
	}
	if start := p.Config.Paper.Start[p.Config.Account.Currency]; p.Config.Bot.Paper() &&
		strings.Trim(string(start), "0.") == "" {
		return config.Keyf([]string{"paper", "start", p.Config.Account.Currency},
			"is missing; paper mode has to know how much money it begins with")
	}
	if err := p.checkSummary(); err != nil {
		return err
	}
	if p.Config.Bot.SaveKB == 0 {
		return config.Keyf([]string{"bot", "save_kb"}, "0 would halt every strategy that has a state; want 1 at least")
	}
	if p.Config.Bot.State == "" {
		return config.Keyf([]string{"bot", "state"}, "is empty; want a folder, like \"state\"")
	}
	if after := time.Duration(p.Config.Exchange.CancelAfter); after < 150*time.Second || after > 300*time.Second {
		return config.Keyf([]string{"exchange", "cancel_after"}, "%s is not in 150s to 300s", after)
	}
	if err := p.checkBounds(); err != nil {
		return err
	}
	if err := p.readMessengers(getenv); err != nil {
		return err
	}
	if err := p.Config.Metrics.Check(); err != nil {
		return err
	}
	if err := p.Config.Dashboard.Check(); err != nil {
		return err
	}
	if err := p.checkSignals(); err != nil {
		return err
	}
	if err := p.readDoor(getenv); err != nil {
		return err
	}
	for name, s := range p.Config.Strategies {
		if s.OperatorID == 0 {
			return config.Keyf([]string{"strategies", name, "operator_id"},
				"is missing; the exchange wants a number for every trader or bot, and this bot knows its orders by it")
		}
	}
	return nil
}

// readMessengers checks how the bot speaks to persons.
func (p *Live) readMessengers(getenv func(string) string) (err error) {
	if p.Receivers, err = alert.NewReceivers(&p.Config.Alerts, getenv); err != nil {
		return err
	}
	if p.Heartbeat, err = alert.NewHeartbeat(&p.Config.Alerts, getenv); err != nil {
		return err
	}
	p.Telegram, err = p.Config.Telegram.Read(getenv)
	return err
}

// addTrading plans strategies and limits, with amounts in the usual decimals of the currency: the
// exchange's decimals are not known yet.
func (p *Live) addTrading(kinds []strategy.Definition) (err error) {
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
	if err := p.ReadAmounts(currency); err != nil {
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

// Finish completes the plan with the traded markets and their assets.
func (p *Live) Finish(l Listing) error {
	if err := p.rankNow(&l); err != nil {
		return p.Config.Source.Place(err)
	}
	traded := p.wanted()
	markets := slices.DeleteFunc(l.Markets, func(m rest.Market) bool { return !traded[m.Name] })
	// the same order as in a backtest: see Backtest.addMarkets
	slices.SortFunc(markets, func(a, b rest.Market) int { return strings.Compare(a.Name, b.Name) })
	needed := map[string]bool{p.Config.Account.Currency: true}
	for i := range markets {
		needed[markets[i].Base], needed[markets[i].Quote] = true, true
		delete(traded, markets[i].Name)
	}
	if err := p.miss(slices.Sorted(maps.Keys(traded))); err != nil {
		return err
	}
	assets := slices.DeleteFunc(l.Assets, func(a rest.Asset) bool { return !needed[a.Symbol] })
	catalog, leftOut := rest.BuildCatalog(assets, markets)
	for _, why := range leftOut {
		return fmt.Errorf("the exchange's markets: %w", why)
	}
	if err := p.addGone(catalog); err != nil {
		return err
	}
	return p.setCatalog(catalog)
}

// wanted are the markets that the strategies trade or read, and those in which an earlier run has
// left something: their rules decide what is dust.
func (p *Live) wanted() map[string]bool {
	wanted := map[string]bool{}
	for i := range p.Strategies {
		for _, name := range p.namesOf(&p.Strategies[i]) {
			wanted[name] = true
		}
		if needs, err := p.Strategies[i].Kind.Needs(p.Strategies[i].Values); err == nil {
			for _, name := range needs.Reads {
				wanted[name] = true
			}
		}
	}
	for _, names := range p.Held {
		for _, name := range names {
			wanted[name] = true
		}
	}
	return wanted
}

// miss handles markets that the exchange does not list: those that an earlier run has known have
// gone, others are a mistake in the config.
func (p *Live) miss(names []string) error {
	p.Gone = map[string]bool{}
	for _, name := range names {
		if p.Known == nil || p.Known.MarketNamed(name) == nil {
			return p.Config.Source.Place(config.Keyf([]string{"strategies"}, "the exchange has no market %s", name))
		}
		p.Gone[name] = true
	}
	return nil
}

// addGone adds the markets that have gone, with the units of the earlier run. They take no order.
func (p *Live) addGone(catalog *market.Catalog) error {
	for _, name := range slices.Sorted(maps.Keys(p.Gone)) {
		was := p.Known.MarketNamed(name)
		for _, id := range []market.AssetID{was.Base, was.Quote} {
			if asset := p.Known.Asset(id); catalog.AssetNamed(asset.Symbol) == nil {
				if _, err := catalog.AddAsset(asset.Symbol, asset.Digits); err != nil {
					return err
				}
			}
		}
		m := &market.Market{Name: name, PriceDigits: was.PriceDigits, VolumeDigits: was.VolumeDigits,
			Status: market.Delisted}
		m.TickSize, m.QuantityDecimals, m.NotionalDecimals = 1, was.AmountDigits, was.QuoteDigits
		if p.Least != nil {
			m.MinOrderInBase, m.MinOrderInQuote = p.Least(name)
		}
		if err := catalog.AddMarket(m); err != nil {
			return err
		}
	}
	return nil
}

// Offered are the markets that a strategy trades or reads and the exchange lists.
func (p *Live) Offered(s *backtest.StrategyPlan) []*market.Market {
	list := slices.Clone(s.Markets)
	if needs, err := s.Kind.Needs(s.Values); err == nil {
		for _, name := range needs.Reads {
			if m := p.Catalog.MarketNamed(name); m != nil && !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	return slices.DeleteFunc(list, func(m *market.Market) bool { return p.Gone[m.Name] })
}

// setCatalog sets the exchange's catalog and reads the amounts again, in its units.
func (p *Live) setCatalog(catalog *market.Catalog) (err error) {
	currency := catalog.AssetNamed(p.Config.Account.Currency)
	if currency == nil {
		return p.Config.Source.Place(config.Keyf([]string{"account", "currency"}, "the exchange has no asset %s",
			p.Config.Account.Currency))
	}
	p.Catalog = catalog
	if err := p.ReadAmounts(currency); err != nil {
		return p.Config.Source.Place(err)
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		s.Markets = nil
		for _, traded := range p.namesOf(s) {
			s.Markets = append(s.Markets, catalog.MarketNamed(traded))
		}
		s.Universe = p.memberships(s)
	}
	p.SettingsHash, err = p.hash(p.settings())
	return err
}

// settings returns the settings to hash, as the config of a backtest: so a hash in a state file of
// any age can be compared.
func (p *Live) settings() config.Backtest {
	c, s := *config.DefaultBacktest(), &p.sections
	c.Account.Currency, c.Account.MakerFee, c.Account.TakerFee, c.Risk = s.Currency, s.MakerFee, s.TakerFee, s.Risk
	c.Signals.Sources = withoutFiles(s.Signals)
	c.Assets = map[string]config.AssetSection{s.Currency: {Decimals: int64(p.Currency.Digits)}}
	return c
}

// Name is the bot's name in alerts. It has only characters that a header may hold.
func (p *Live) Name() string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, cmp.Or(p.Config.Bot.Name, p.Config.Source.Label()))
}

// InGroup names the strategies of a cancel-on-disconnect group.
func (p *Live) InGroup(group uint16) (names []string) {
	for i := range p.Strategies {
		if p.Strategies[i].Limits.CodGroupID == group {
			names = append(names, p.Strategies[i].Name)
		}
	}
	return names
}

// Groups are the cancel-on-disconnect groups of the strategies.
func (p *Live) Groups() (groups []uint16) {
	for i := range p.Strategies {
		if g := p.Strategies[i].Limits.CodGroupID; g != 0 && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return groups
}
