package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
)

// addUnits gives each market the decimals that the candles of this run need, and its rules. Candles
// outside the run, and of other series, decide nothing.
func (p *Backtest) addUnits() error {
	var derived []string
	for _, m := range p.Catalog.Markets() {
		path, rules := []string{"markets", m.Name}, p.Config.Markets[m.Name]
		price, volume, err := p.digits(m)
		if err != nil {
			return err
		}
		if err := m.SetDigits(max(price, rules.TickSize.Digits(), p.tickDigits(m.Name)), volume); err != nil {
			return config.At(path, p.tooFine(m, price, err))
		}
		if err := p.setRules(path, m, &rules); err != nil {
			return err
		}
		if rules.TickSize == "" && len(p.rulesOf(m.Name)) == 0 {
			derived = append(derived, m.Name+" "+m.FormatPrice(m.TickSize))
		}
	}
	p.sayTicks(derived)
	return nil
}

// tooFine adds to the error about a market's decimals how many its base asset may have.
func (p *Backtest) tooFine(m *market.Market, price uint8, err error) error {
	for own, at := *m, m.AmountDigits; at > 0; {
		at--
		if own.AmountDigits = at; own.SetDigits(price, 0) == nil {
			return fmt.Errorf("%w; set assets.%s.decimals = %d, or import the prices with --replace --price-digits %d",
				err, p.Catalog.Asset(m.Base).Symbol, at, price-(m.AmountDigits-at))
		}
	}
	return err
}

// digits are the fewest decimals of a market's prices and volumes in the candles that the run
// reads.
func (p *Backtest) digits(m *market.Market) (price, volume uint8, err error) {
	for _, f := range p.Run.Feeds {
		if f.Market != m {
			continue
		}
		from, err := p.unitsFrom(f)
		if err != nil {
			return 0, 0, err
		}
		part, err := p.part(m.Name, f.Interval, from, p.Run.To)
		if err != nil {
			return 0, 0, err
		}
		price, volume = max(price, part.PriceDigits), max(volume, part.VolumeDigits)
	}
	return price, volume, nil
}

// unitsFrom is the time from which candles decide the units: all that the run reads, or, in a
// search, that any of its sets reads.
func (p *Backtest) unitsFrom(f backtest.Feed) (market.Time, error) {
	if p.reach != nil {
		return p.reach(f)
	}
	if p.WholeHistory {
		return 0, nil
	}
	return p.Run.ReadFrom(f), nil
}

// maxTicks is how many derived ticks an assumption lists.
const maxTicks = 4

// sayTicks states the ticks that are the decimals of the candles.
func (p *Backtest) sayTicks(derived []string) {
	if len(derived) == 0 {
		return
	}
	more := ""
	if n := len(derived) - maxTicks; n > 0 {
		derived, more = derived[:maxTicks], fmt.Sprintf(" and %d more", n)
	}
	p.Options.Assumptions = append(p.Options.Assumptions, fmt.Sprintf("Tick sizes are the decimals of this run's "+
		"candles: %s%s. markets.NAME.tick_size sets the exchange's.", strings.Join(derived, ", "), more))
}

// withTicks is the config with the tick sizes of the run, derived ones too: they decide the result.
func (p *Backtest) withTicks() config.Backtest {
	c := *p.Config
	if c.Markets = maps.Clone(c.Markets); c.Markets == nil {
		c.Markets = map[string]config.MarketSection{}
	}
	for _, m := range p.Catalog.Markets() {
		section := c.Markets[m.Name]
		section.TickSize = config.Decimal(m.FormatPrice(m.TickSize))
		c.Markets[m.Name] = section
	}
	return c
}

// Ticks are the settings that give another run the ticks and decimals of this one, where they are
// others.
func (p *Backtest) Ticks(of *Backtest) (settings []string) {
	for _, m := range of.Catalog.Markets() {
		have := p.Catalog.MarketNamed(m.Name)
		if have != nil && (have.PriceDigits != m.PriceDigits || have.TickSize != m.TickSize) {
			settings = append(settings, fmt.Sprintf("markets.%s.tick_size=%s", m.Name, m.FormatPrice(m.TickSize)))
		}
	}
	slices.Sort(settings)
	return settings
}
