package bot

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// planner turns a config into a plan: first all that needs no data, so that mistakes in a config are heard of before a store
// is opened, then the rest.
type planner struct {
	*backtestConfig
	kinds    []strategy.Kind
	plan     *backtest.Plan
	options  backtest.Options
	currency *market.Asset
	candles  library
}

// newPlanner checks all of a config but what depends on stored candles.
func newPlanner(c *backtestConfig, kinds []strategy.Kind) (*planner, error) {
	p := &planner{backtestConfig: c, kinds: kinds, plan: &backtest.Plan{Catalog: &market.Catalog{}}}
	for _, step := range [...]func() error{p.checkWords, p.checkRange, p.checkMarkets, p.addAssets, p.addVenue, p.addStrategies, p.addAccount, p.addDeposits} {
		if err := step(); err != nil {
			return nil, c.place(err)
		}
	}
	return p, nil
}

// checkWords looks at the settings that are one of a few words.
func (p *planner) checkWords() error {
	for _, w := range [...]struct {
		path  []string
		have  string
		words []string
	}{
		{[]string{"backtest", "warmup"}, p.Backtest.Warmup, []string{"before", "inside"}},
		{[]string{"data", "source"}, p.Data.Source, []string{sourceStore, sourceSynthetic}},
		{[]string{"report", "envelope"}, string(p.Report.Envelope), []string{envelopeAuto, "true", "false"}},
	} {
		if !slices.Contains(w.words, w.have) {
			return p.errorf(w.path, "%q is not one of %s", clip(w.have), strings.Join(w.words, ", "))
		}
	}
	if p.Data.Candles == "" && p.Data.Source == sourceStore {
		return p.errorf([]string{"data", "candles"}, "is empty; want the file of the store, like %q", defaultStore)
	}
	if _, err := backtest.ParseAssets(p.Report.Assets); err != nil {
		return at([]string{"report", "assets"}, err)
	}
	return nil
}

func (p *planner) checkRange() error {
	from, to := market.Time(p.Backtest.From), market.Time(p.Backtest.To)
	if to != 0 && from >= to {
		return p.errorf([]string{"backtest", "from"}, "%s is not before to, which is %s; swap them, or leave one out", from, to)
	}
	p.plan.From, p.plan.To = from, to
	p.plan.ColdStart = p.Backtest.Warmup == "inside"
	return nil
}

// addAssets adds the account's currency and the assets of the start; those of markets follow with their markets.
func (p *planner) addAssets() (err error) {
	for _, symbol := range slices.Sorted(maps.Keys(p.Assets)) {
		if n := p.Assets[symbol].Decimals; n > market.MaxDigits {
			return p.errorf([]string{"assets", symbol, "decimals"}, "%d is more than %d", n, market.MaxDigits)
		}
	}
	if p.Account.Currency == "" {
		return p.errorf([]string{"account", "currency"}, "want the symbol of an asset, like EUR")
	}
	p.currency, err = p.asset(p.Account.Currency)
	p.plan.Currency = p.currency
	return err
}

// asset is the catalog's asset, added when it is not there yet.
func (p *planner) asset(symbol string) (*market.Asset, error) {
	digits := int64(8)
	switch symbol {
	case "EUR":
		digits = 2
	case "USDC":
		digits = 6
	}
	if section, given := p.Assets[symbol]; given {
		digits = section.Decimals
	}
	return p.plan.Catalog.AddAsset(symbol, uint8(digits))
}

func (p *planner) addVenue() (err error) {
	b, venue := &p.Backtest, &p.plan.Venue
	if venue.Path, err = sim.ParsePath(b.Path); err != nil {
		return at([]string{"backtest", "path"}, err)
	}
	if venue.LimitFill, err = sim.ParseLimitFill(b.LimitFill); err != nil {
		return at([]string{"backtest", "limit_fill"}, err)
	}
	if venue.FeeRounding, err = exchange.ParseFeeRounding(p.Account.FeeRounding); err != nil {
		return at([]string{"account", "fee_rounding"}, err)
	}
	venue.Latency, p.plan.DataLatency, p.plan.SyntheticBook = market.Duration(b.Latency), market.Duration(b.DataLatency), b.SyntheticBook
	for _, r := range [...]struct {
		path   []string
		value  decimal
		digits uint8 // those of a Rate, less where the unit is smaller than 1
		into   *market.Rate
	}{
		{[]string{"backtest", "half_spread_bps"}, b.HalfSpreadBPS, market.RateDigits - 4, &venue.HalfSpread},
		{[]string{"backtest", "slippage_bps"}, b.SlippageBPS, market.RateDigits - 4, &venue.Slippage},
		{[]string{"backtest", "volume_share"}, b.VolumeShare, market.RateDigits, &venue.VolumeShare},
		{[]string{"backtest", "placement_limit"}, b.PlacementLimit, market.RateDigits, &venue.PlacementLimit},
		{[]string{"account", "taker_fee"}, p.Account.TakerFee, market.RateDigits, &p.plan.Fees.Taker},
	} {
		if err := readRate(r.value, r.digits, r.into); err != nil {
			return at(r.path, err)
		}
	}
	if venue.HalfSpread > wholeRate/2 {
		return at([]string{"backtest", "half_spread_bps"}, fmt.Errorf("%s leaves a bid of less than half the price; at most 5000", b.HalfSpreadBPS))
	}
	return p.addRebate()
}

// addRebate reads a maker fee below zero: what the exchange pays the maker (venue-facts 3.5).
func (p *planner) addRebate() error {
	path, text := []string{"account", "maker_fee"}, string(p.Account.MakerFee)
	if !strings.HasPrefix(text, "-") {
		return at(path, readRate(p.Account.MakerFee, market.RateDigits, &p.plan.Fees.Maker))
	}
	rebate := market.Rate(0)
	if err := readRate(decimal(text[1:]), market.RateDigits, &rebate); err != nil {
		return at(path, err)
	}
	if rebate > p.plan.Fees.Taker {
		return at(path, fmt.Errorf("a rebate of %s is more than the taker pays", text[1:]))
	}
	p.plan.Fees.Maker = -rebate
	return nil
}

// readRate reads a part of something, at most all of it.
func readRate(value decimal, digits uint8, into *market.Rate) error {
	n, err := value.fixed(digits)
	if err != nil {
		return err
	}
	if market.Rate(n) > wholeRate {
		return fmt.Errorf("%s is more than the whole", value)
	}
	*into = market.Rate(n)
	return nil
}

// wholeRate is 100 %.
const wholeRate = market.Rate(100_000_000)

func (p *planner) addAccount() error {
	limits := &p.plan.Account
	limits.Currency, limits.AllowSelfCross = p.currency.ID, p.Risk.AllowSelfCross
	if err := p.money([]string{"risk", "max_exposure"}, p.Risk.MaxExposure, &limits.MaxExposure); err != nil {
		return err
	}
	if err := p.money([]string{"risk", "max_daily_loss"}, p.Risk.MaxDailyLoss, &limits.MaxDailyLoss); err != nil {
		return err
	}
	return at([]string{"risk", "max_drawdown"}, readRate(p.Risk.MaxDrawdown, market.RateDigits, &limits.MaxDrawdown))
}

// money reads an amount of the currency.
func (p *planner) money(path []string, value decimal, into *market.Money) (err error) {
	*into, err = moneyOf(value, p.currency)
	return at(path, err)
}

func moneyOf(value decimal, asset *market.Asset) (market.Money, error) {
	n, err := value.fixed(asset.Digits)
	if errors.Is(err, market.ErrInexact) {
		return 0, fmt.Errorf("%s has more decimals than the %d of %s; round it, or give the asset more in [assets.%s]", value, asset.Digits, asset.Symbol, asset.Symbol)
	}
	if errors.Is(err, market.ErrOverflow) {
		return 0, fmt.Errorf("%s with the %d decimals of %s is too large: %w", value, asset.Digits, asset.Symbol, err)
	}
	return market.Money(n), err
}

// addDeposits splits the start between the strategies with an allotment and the common purse.
func (p *planner) addDeposits() error {
	start := p.Account.Start
	if len(start) == 0 {
		start = map[string]decimal{p.currency.Symbol: "10000"}
	}
	for _, symbol := range slices.Sorted(maps.Keys(start)) {
		path := []string{"account", "start", symbol}
		if symbol != p.currency.Symbol && !p.trades(symbol) {
			return p.errorf(path, "no strategy trades %s for %s, so it would count for nothing; trade it, or leave it out", symbol, p.currency.Symbol)
		}
		asset, err := p.asset(symbol)
		if err != nil {
			return at(path, err)
		}
		money, err := moneyOf(start[symbol], asset)
		if err == nil && money == 0 {
			err = errors.New("0 is not an amount to start with; leave the asset out, or give it some")
		}
		if err != nil {
			return at(path, err)
		}
		if asset == p.currency {
			if money, err = p.allot(money); err != nil {
				return err
			}
		}
		if money > 0 {
			p.plan.Deposits = append(p.plan.Deposits, backtest.Deposit{Asset: asset.ID, Money: money})
		}
	}
	return p.checkAllotments(start)
}

// allot gives the strategies theirs and returns what is left.
func (p *planner) allot(money market.Money) (market.Money, error) {
	for i, name := range p.names() {
		var own market.Money
		path := []string{"strategies", name, "allotment"}
		if err := p.money(path, p.Strategies[name].Allotment, &own); err != nil {
			return 0, err
		}
		if own > money {
			return 0, p.errorf(path, "%s is more than what is left of account.start.%s: %s", p.Strategies[name].Allotment,
				p.currency.Symbol, market.FormatFixed(int64(money), p.currency.Digits))
		}
		if own > 0 {
			money -= own
			p.plan.Strategies[i].Own = true
			p.plan.Deposits = append(p.plan.Deposits, backtest.Deposit{Asset: p.currency.ID, Money: own, Owner: market.StrategyID(i + 1)})
		}
	}
	return money, nil
}

func (p *planner) checkAllotments(start map[string]decimal) error {
	if _, given := start[p.currency.Symbol]; given {
		return nil
	}
	for _, name := range p.names() {
		if p.Strategies[name].Allotment != "" {
			return p.errorf([]string{"strategies", name, "allotment"}, "the account starts without %s; set account.start.%s", p.currency.Symbol, p.currency.Symbol)
		}
	}
	return nil
}

// checkMarkets looks at the names of the sections; which of them are used is said at the start.
func (p *planner) checkMarkets() error {
	for _, name := range slices.Sorted(maps.Keys(p.Markets)) {
		if _, _, err := market.SplitName(name); err != nil {
			return at([]string{"markets", name}, err)
		}
	}
	return nil
}

// trades reports whether a market of this name, or of this base, is traded.
func (p *planner) trades(name string) bool {
	for _, s := range p.Strategies {
		for _, traded := range s.Markets {
			if traded == name || strings.HasPrefix(traded, name+"-") {
				return true
			}
		}
	}
	return false
}

// unused tells, a line for each, which sections change nothing: what a mistyped name does.
func (p *planner) unused() (lines []string) {
	add := func(path ...string) {
		lines = append(lines, fmt.Sprintf("unused: %s%s: no strategy trades it", p.source.whereOf(path), strings.Join(path, ".")))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Assets)) {
		if name != p.currency.Symbol && !p.trades(name) {
			add("assets", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Markets)) {
		if !p.trades(name) {
			add("markets", name)
		}
	}
	return lines
}

// unlimited tells, a line for each scope, which limits are not set.
func (p *planner) unlimited() (lines []string) {
	add := func(scope string, names []string) {
		if len(names) > 0 {
			lines = append(lines, fmt.Sprintf("no limit: %s: %s", scope, strings.Join(names, ", ")))
		}
	}
	add("account", p.plan.Account.Unlimited())
	for i := range p.plan.Strategies {
		add("strategy "+p.plan.Strategies[i].Name, p.plan.Strategies[i].Limits.Unlimited())
	}
	return lines
}
