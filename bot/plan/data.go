package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Finish completes the plan with the candles of a library, and the Options with the facts that a
// report names. The library must stay open during the run.
func (p *Backtest) Finish(candles Library) error {
	p.Candles, p.Run.Open, p.Run.Log = candles, candles.open, zerolog.Nop()
	p.Run.Catalog, p.Run.Currency, p.Run.Strategies = p.Catalog, p.Currency, p.Strategies
	p.Run.Account, p.Run.Fees = p.Limits, p.Fees
	p.Options.Told = true
	p.Options.Synthetic, p.Options.Seed = p.Config.Data.Source == config.SourceSynthetic, p.Config.Backtest.Seed
	for _, step := range [...]func() error{p.readRecords, p.addMarkets, p.addFeeds, p.addUnits, p.compareFeeds,
		p.addChanges, p.readSignals, p.describeData, p.describeRun} {
		if err := step(); err != nil {
			return p.Config.Source.Place(err)
		}
	}
	return nil
}

// file is the file of the store; empty: there is none.
func (p *Backtest) file() string {
	if _, given := p.Candles.(*Given); given || p.Config.Data.Source == config.SourceSynthetic {
		return ""
	}
	return p.Config.Data.Candles
}

// addMarkets adds the traded markets in the order of their names, as in a live bot. Candles that
// close together are delivered in the catalog's order, so the order decides which strategy uses the
// cash first.
func (p *Backtest) addMarkets() error {
	if err := p.rankUniverses(); err != nil {
		return err
	}
	intervals := map[string]market.Interval{}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		for _, traded := range p.namesOf(s) {
			intervals[traded] = s.Interval
		}
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			return err
		}
		for _, read := range needs.Reads {
			intervals[read] = s.Interval
		}
	}
	for _, traded := range slices.Sorted(maps.Keys(intervals)) {
		if _, err := p.market(traded, intervals[traded]); err != nil {
			return err
		}
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		for _, traded := range p.namesOf(s) {
			m, err := p.market(traded, s.Interval)
			if err != nil {
				return err
			}
			s.Markets = append(s.Markets, m)
		}
		s.Universe = p.memberships(s)
	}
	return nil
}

// namesOf are the markets of a strategy: those of its config, or all that are ever members of its
// universe.
func (p *Backtest) namesOf(s *backtest.StrategyPlan) []string {
	if r := p.universes[s.Name]; r != nil {
		return r.ever
	}
	return p.Config.Strategies[s.Name].Markets
}

// memberships are the members of a strategy's universe over time; nil: it has none.
func (p *Backtest) memberships(s *backtest.StrategyPlan) (list []strategy.Membership) {
	r := p.universes[s.Name]
	if r == nil {
		return nil
	}
	for _, change := range r.changes {
		members := strategy.Membership{From: change.from}
		for _, name := range change.members {
			members.Markets = append(members.Markets, p.Catalog.MarketNamed(name).ID)
		}
		list = append(list, members)
	}
	return list
}

// market returns the catalog's market. It adds the market if it is missing; addUnits gives it its
// units and rules.
func (p *Backtest) market(name string, interval market.Interval) (*market.Market, error) {
	if have := p.Catalog.MarketNamed(name); have != nil {
		return have, nil
	}
	if _, err := p.Candles.Span(name, interval); err != nil {
		return nil, ExplainMissing(p.Candles, p.file(), name, interval, err)
	}
	base, quote, err := market.SplitName(name)
	if err != nil {
		return nil, err
	}
	path, m := []string{"markets", name}, &market.Market{Name: name}
	for _, symbol := range [...]string{base, quote} {
		if _, err := p.asset(symbol); err != nil {
			return nil, config.At(path, err)
		}
	}
	return m, config.At(path, p.Catalog.AddMarket(m))
}

// setRules writes a market's rules; a rule that is left out forbids nothing.
func (p *Backtest) setRules(path []string, m *market.Market, rules *config.MarketSection) error {
	m.QuantityDecimals, m.NotionalDecimals = m.AmountDigits, m.QuoteDigits
	m.MaxOpenOrders, m.FeeCategory = int(rules.MaxOpenOrders), rules.FeeCategory
	tick, err := rules.TickSize.Fixed(m.PriceDigits)
	if err != nil {
		return config.At(config.Join(path, "tick_size"), err)
	}
	m.TickSize = market.Price(max(tick, 1))
	for _, d := range [...]struct {
		key   string
		given *int64
		into  *uint8
	}{
		{"quantity_decimals", rules.QuantityDecimals, &m.QuantityDecimals},
		{"notional_decimals", rules.NotionalDecimals, &m.NotionalDecimals},
	} {
		if d.given == nil {
			continue
		}
		if *d.given > int64(*d.into) {
			return config.Keyf(config.Join(path, d.key), "%d is more than the %d decimals of the asset; see [assets]",
				*d.given, *d.into)
		}
		*d.into = uint8(*d.given)
	}
	return p.setBounds(path, m, rules)
}

func (p *Backtest) setBounds(path []string, m *market.Market, rules *config.MarketSection) error {
	base, quote := p.Catalog.Asset(m.Base), p.Catalog.Asset(m.Quote)
	for _, bound := range [...]struct {
		key   string
		value config.Decimal
		asset *market.Asset
		into  func(market.Money)
	}{
		{"min_order_in_base", rules.MinOrderInBase, base, func(n market.Money) { m.MinOrderInBase = market.Qty(n) }},
		{"max_order_in_base", rules.MaxOrderInBase, base, func(n market.Money) { m.MaxOrderInBase = market.Qty(n) }},
		{"min_order_in_quote", rules.MinOrderInQuote, quote, func(n market.Money) { m.MinOrderInQuote = n }},
		{"max_order_in_quote", rules.MaxOrderInQuote, quote, func(n market.Money) { m.MaxOrderInQuote = n }},
	} {
		n, err := bound.value.Money(bound.asset)
		if err != nil {
			return config.At(config.Join(path, bound.key), err)
		}
		bound.into(n)
	}
	for _, pair := range [...]struct {
		key        string
		least, max int64
	}{
		{"max_order_in_base", int64(m.MinOrderInBase), int64(m.MaxOrderInBase)},
		{"max_order_in_quote", int64(m.MinOrderInQuote), int64(m.MaxOrderInQuote)},
	} {
		if pair.max > 0 && pair.max < pair.least {
			return config.Keyf(config.Join(path, pair.key), "is below the minimum: no order could pass")
		}
	}
	return nil
}

// describeRun names the run: title, hashes, version.
func (p *Backtest) describeRun() (err error) {
	p.describeUniverses()
	var parts []string
	for i := range p.Strategies {
		s := &p.Strategies[i]
		var names []string
		for _, m := range s.Markets {
			names = append(names, m.Name)
		}
		on := strings.Join(names, " ")
		if u := p.Config.Strategies[s.Name].Universe; u != nil {
			on = fmt.Sprintf("the top %d in %s by %s", u.Top, p.Currency.Symbol, u.Rank)
		}
		parts = append(parts, fmt.Sprintf("%s on %s %s", s.Kind.Name, on, s.Interval))
	}
	p.Options.Title = strings.Join(parts, ", ")
	if p.Options.Synthetic {
		p.Options.Title += " (synthetic)"
	}
	p.Options.CodeVersion = version.Of(debug.ReadBuildInfo())
	p.Options.ConfigHash, err = p.hash(p.withSignals(p.withTicks()))
	return err
}

// describeData hashes the candles that the run reads and counts the missing ones.
func (p *Backtest) describeData() error {
	hash := sha256.New()
	for _, f := range p.Run.Feeds {
		span, err := p.span(f.Market.Name, f.Interval)
		if err != nil {
			return err
		}
		text, err := p.Candles.DataHash(f.Market.Name, f.Interval, p.Run.ReadFrom(f), p.Run.To)
		if err != nil {
			return err
		}
		fmt.Fprintln(hash, f.Market.Name, f.Interval, text)
		info, err := p.missing(f, span)
		if err != nil {
			return err
		}
		p.Options.Data = append(p.Options.Data, info)
		p.warnOfGaps(f, info.Missing, span)
		if err := p.warnOfEdges(f, span); err != nil {
			return err
		}
	}
	fmt.Fprint(hash, p.advice)
	p.Options.DataHash = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// warnOfGaps warns of a series in which many candles are missing.
func (p *Backtest) warnOfGaps(f backtest.Feed, missing int64, span candles.Range) {
	all := f.Interval.Index(span.To) - f.Interval.Index(span.From)
	if text := candles.ManyMissing(all-missing, missing); text != "" {
		p.Options.Warnings = append(p.Options.Warnings, fmt.Sprintf("%s %s: %s.", f.Market.Name, f.Interval, text))
	}
}

// missing counts the missing candles in a span.
func (p *Backtest) missing(f backtest.Feed, span candles.Range) (backtest.DataInfo, error) {
	info := backtest.DataInfo{Market: f.Market.Name, Interval: f.Interval.String()}
	gaps, err := p.Candles.Gaps(f.Market.Name, f.Interval, span.From, span.To)
	for _, gap := range gaps {
		if gap.NoTrade {
			info.NoTrade += gap.Candles
		} else {
			info.Missing += gap.Candles
		}
	}
	return info, err
}

// warnOfEdges warns of a series that does not cover the range.
func (p *Backtest) warnOfEdges(f backtest.Feed, span candles.Range) error {
	if !p.named(f.Market.Name) || span.From >= span.To {
		return nil // markets of a universe come and go
	}
	warn := func(format string, at market.Time) {
		p.Options.Warnings = append(p.Options.Warnings, fmt.Sprintf(format, f.Market.Name, f.Interval, at))
	}
	if p.Run.From == 0 {
		stored, err := p.Candles.Span(f.Market.Name, f.Interval)
		if err != nil {
			return err
		}
		if stored.From < 0 {
			warn("%s %s begins at %s; a run begins in 1970 at the earliest.", stored.From)
		}
	}
	if f.Interval.End(p.Run.From) <= span.From && p.Run.From != 0 {
		warn("%s %s begins only at %s, after the start that was asked for.", span.From)
	}
	if p.Run.To > span.To {
		warn("%s %s ends at %s, before the end that was asked for.", span.To)
	}
	return nil
}

// named reports whether the config of a strategy names a market.
func (p *Backtest) named(name string) bool {
	for _, s := range p.Config.Strategies {
		if slices.Contains(s.Markets, name) {
			return true
		}
	}
	return false
}

// Explain adds a hint to the errors of a run about amounts that are too large and about a range
// without candles.
func (p *Backtest) Explain(err error) error {
	if errors.Is(err, market.ErrOverflow) {
		var have []string
		for _, a := range p.Catalog.Assets() {
			have = append(have, fmt.Sprintf("%s has %d", a.Symbol, a.Digits))
		}
		return fmt.Errorf("%w: an amount is too large for 64 bits; start with less, or give the assets fewer decimals "+
			"in [assets]: %s", err, strings.Join(have, ", "))
	}
	if !errors.Is(err, backtest.ErrNoCandles) {
		return err
	}
	f := slices.MaxFunc(p.Run.Feeds, func(a, b backtest.Feed) int { return cmp.Compare(a.Interval, b.Interval) })
	stored, failed := p.Candles.Span(f.Market.Name, f.Interval)
	if failed != nil {
		return failed
	}
	return fmt.Errorf("%w: %s %s is stored from %s to %s; choose --from and --to inside", err, f.Market.Name,
		f.Interval, stored.From, stored.To)
}
