package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/state/signals"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Backtest is the plan of a backtest. NewBacktest makes the part that needs no data, so that a
// mistake in a config shows before a store is opened. Finish makes the rest.
type Backtest struct {
	Plan
	Config  *config.Backtest
	Run     *backtest.Plan
	Options backtest.Options
	Candles Library
	// WholeHistory lets the units fit all candles before the range, not only those of the warm-up.
	WholeHistory bool

	reach     func(backtest.Feed) (market.Time, error) // see unitsFrom; nil: the plan's own
	universes universes
	records   recorded
	parts     sync.Map // of partKey: candles.Part
	heard     map[string]*signals.File
	advice    string // hash of the run's signals, for that of its data; empty: there are none
}

// partKey is a question for a part of a series.
type partKey struct {
	name     string
	interval market.Interval
	from, to market.Time
}

// part asks the library once for each part: the answer takes a look at each chunk.
func (p *Backtest) part(name string, interval market.Interval, from, to market.Time) (candles.Part, error) {
	key := partKey{name, interval, from, to}
	if known, is := p.parts.Load(key); is {
		return known.(candles.Part), nil
	}
	part, err := p.Candles.Part(name, interval, from, to)
	if err == nil {
		p.parts.Store(key, part)
	}
	return part, err
}

// NewBacktest checks a config, except for the parts that depend on stored candles.
func NewBacktest(c *config.Backtest, kinds []strategy.Definition) (*Backtest, error) {
	p := &Backtest{Config: c, Run: &backtest.Plan{}, Plan: Plan{kinds: kinds}}
	for _, step := range [...]func() error{p.checkWords, p.checkRange, p.checkSections, p.checkSignals, p.addVenue,
		p.checkMeasured, p.addTrading, p.addDeposits} {
		if err := step(); err != nil {
			return nil, c.Source.Place(err)
		}
	}
	return p, nil
}

// checkWords checks the settings that take one of a few words.
func (p *Backtest) checkWords() error {
	for _, w := range [...]struct {
		path  []string
		have  string
		words []string
	}{
		{[]string{"backtest", "warmup"}, p.Config.Backtest.Warmup, []string{"before", "inside"}},
		{[]string{"data", "source"}, p.Config.Data.Source, []string{config.SourceStore, config.SourceSynthetic}},
		{[]string{"report", "envelope"}, string(p.Config.Report.Envelope),
			[]string{config.EnvelopeAuto, "true", "false"}},
	} {
		if !slices.Contains(w.words, w.have) {
			return config.Keyf(w.path, "%q is not one of %s", config.Clip(w.have), strings.Join(w.words, ", "))
		}
	}
	if p.Config.Data.Candles == "" && p.Config.Data.Source == config.SourceStore {
		return config.Keyf([]string{"data", "candles"}, "is empty; want the file of the store, like %q",
			config.DefaultStore)
	}
	return nil
}

func (p *Backtest) checkRange() error {
	from, to := market.Time(p.Config.Backtest.From), market.Time(p.Config.Backtest.To)
	if to != 0 && from >= to {
		return config.Keyf([]string{"backtest", "from"},
			"%s is not before to, which is %s; swap them, or leave one out", from, to)
	}
	p.Run.From, p.Run.To = from, to
	p.Run.ColdStart = p.Config.Backtest.Warmup == "inside"
	return nil
}

// checkSections checks the names of the sections. Unused lists the sections without effect.
func (p *Backtest) checkSections() error {
	for _, name := range slices.Sorted(maps.Keys(p.Config.Markets)) {
		if _, _, err := market.SplitName(name); err != nil {
			return config.At([]string{"markets", name}, err)
		}
	}
	for _, symbol := range slices.Sorted(maps.Keys(p.Config.Assets)) {
		if n := p.Config.Assets[symbol].Decimals; n > market.MaxDigits {
			return config.Keyf([]string{"assets", symbol, "decimals"}, "%d is more than %d", n, market.MaxDigits)
		}
	}
	if p.Config.Account.Currency == "" {
		return config.Keyf([]string{"account", "currency"}, "want the symbol of an asset, like EUR")
	}
	return nil
}

// addTrading adds the account's currency, then strategies and limits in its units.
func (p *Backtest) addTrading() (err error) {
	if p.Plan, err = newPlan(p.Config.Trading(), p.kinds); err != nil {
		return err
	}
	currency, err := p.asset(p.Config.Account.Currency)
	if err != nil {
		return err
	}
	return p.ReadAmounts(currency)
}

// asset returns the catalog's asset. It adds the asset if it is missing.
func (p *Backtest) asset(symbol string) (*market.Asset, error) {
	digits := usualDigits(symbol)
	if section, given := p.Config.Assets[symbol]; given {
		digits = uint8(section.Decimals)
	}
	return p.Catalog.AddAsset(symbol, digits)
}

func (p *Backtest) addVenue() (err error) {
	b, venue := &p.Config.Backtest, &p.Run.Venue
	if venue.Path, err = sim.ParsePath(b.Path); err != nil {
		return config.At([]string{"backtest", "path"}, err)
	}
	if venue.LimitFill, err = sim.ParseLimitFill(b.LimitFill); err != nil {
		return config.At([]string{"backtest", "limit_fill"}, err)
	}
	if venue.LimitGap, err = sim.ParseLimitGap(b.LimitGap); err != nil {
		return config.At([]string{"backtest", "limit_gap"}, err)
	}
	if venue.FeeRounding, err = exchange.ParseFeeRounding(p.Config.Account.FeeRounding); err != nil {
		return config.At([]string{"account", "fee_rounding"}, err)
	}
	venue.Latency, p.Run.DataLatency, p.Run.SyntheticBook = market.Duration(b.Latency), market.Duration(b.DataLatency),
		b.SyntheticBook
	for _, r := range [...]struct {
		path   []string
		value  config.Decimal
		digits uint8 // of Decimal.Rate
		into   *market.Rate
	}{
		{[]string{"backtest", "half_spread_bps"}, b.HalfSpreadBPS.Decimal, config.PointsDigits, &venue.HalfSpread},
		{[]string{"backtest", "slippage_bps"}, b.SlippageBPS.Decimal, config.PointsDigits, &venue.Slippage},
		{[]string{"backtest", "volume_share"}, b.VolumeShare.Decimal, market.RateDigits, &venue.VolumeShare},
		{[]string{"backtest", "placement_limit"}, b.PlacementLimit.Decimal, market.RateDigits, &venue.PlacementLimit},
	} {
		if *r.into, err = r.value.Rate(r.digits); err != nil {
			return config.At(r.path, err)
		}
	}
	if b.FillProbability.Decimal != "" {
		fills, err := b.FillProbability.Rate(market.RateDigits)
		if err != nil {
			return config.At([]string{"backtest", "fill_probability"}, err)
		}
		venue.MissProbability, venue.MissSeed = config.WholeRate-fills, b.Seed
	}
	if venue.HalfSpread > config.WholeRate/2 {
		return config.Keyf([]string{"backtest", "half_spread_bps"},
			"%s leaves a bid of less than half the price; at most 5000", b.HalfSpreadBPS)
	}
	return nil
}

// addDeposits splits the start between the strategies with an allocation and the common pool.
func (p *Backtest) addDeposits() error {
	start := p.Config.Account.Start
	if len(start) == 0 {
		start = map[string]config.Decimal{p.Currency.Symbol: "10000"}
	}
	for _, symbol := range slices.Sorted(maps.Keys(start)) {
		path := []string{"account", "start", symbol}
		if symbol != p.Currency.Symbol && !p.trades(symbol) {
			return config.Keyf(path,
				"no strategy trades %s for %s, so it would count for nothing; trade it, or leave it out", symbol,
				p.Currency.Symbol)
		}
		asset, err := p.asset(symbol)
		if err != nil {
			return config.At(path, err)
		}
		money, err := start[symbol].Money(asset)
		if err == nil && money == 0 {
			err = errors.New("0 is not an amount to start with; leave the asset out, or give it some")
		}
		if err != nil {
			return config.At(path, err)
		}
		if asset == p.Currency {
			if money, err = p.allot(money); err != nil {
				return err
			}
		}
		if money > 0 {
			p.Run.Deposits = append(p.Run.Deposits, backtest.Deposit{Asset: asset.ID, Money: money})
		}
	}
	return p.checkAllocations(start)
}

// allot gives the strategies theirs and returns what is left.
func (p *Backtest) allot(money market.Money) (market.Money, error) {
	for i := range p.Strategies {
		own, name := p.Allocations[i+1], p.Strategies[i].Name
		if own > money {
			return 0, config.Keyf([]string{"strategies", name, "allocation"},
				"%s is more than what is left of account.start.%s: %s",
				p.Config.Strategies[name].Allocation, p.Currency.Symbol, market.FormatFixed(int64(money),
					p.Currency.Digits))
		}
		if own > 0 {
			money -= own
			p.Run.Deposits = append(p.Run.Deposits,
				backtest.Deposit{Asset: p.Currency.ID, Money: own, Owner: market.StrategyID(i + 1)})
		}
	}
	return money, nil
}

func (p *Backtest) checkAllocations(start map[string]config.Decimal) error {
	if _, given := start[p.Currency.Symbol]; given {
		return nil
	}
	for _, name := range p.Names() {
		if p.Config.Strategies[name].Allocation != "" {
			return config.Keyf([]string{"strategies", name, "allocation"},
				"the account starts without %s; set account.start.%s", p.Currency.Symbol, p.Currency.Symbol)
		}
	}
	return nil
}

// trades reports whether a market of this name, or of this base, is traded.
func (p *Backtest) trades(name string) bool {
	for _, s := range p.Config.Strategies {
		if s.Universe != nil && (!strings.Contains(name, "-") || strings.HasSuffix(name, "-"+p.Currency.Symbol)) {
			return true // it may become a member
		}
		for _, traded := range s.Markets {
			if traded == name || strings.HasPrefix(traded, name+"-") {
				return true
			}
		}
	}
	return false
}

// Unused lists the sections of assets and markets that no strategy trades, a line for each: their
// names may be mistyped.
func (p *Backtest) Unused() (lines []string) {
	add := func(path ...string) {
		lines = append(lines, fmt.Sprintf("unused: %s%s: no strategy trades it", p.Config.Source.WhereOf(path),
			strings.Join(path, ".")))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Config.Assets)) {
		if name != p.Currency.Symbol && !p.trades(name) {
			add("assets", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Config.Markets)) {
		if !p.trades(name) {
			add("markets", name)
		}
	}
	return lines
}
