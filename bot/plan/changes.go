package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// usualHaircut is the haircut of a config without one. The fall after the news of a delisting is in
// the last price already; the haircut is for base that could not be sold any more.
const usualHaircut = 50 * market.Percent

// delistedAfter is how long before the end of the range the candles of a market end that counts as
// delisted without a record.
const delistedAfter = 7

// recorded is what the records of an exchange's markets say about a run.
type recorded struct {
	oldest, newest *candles.Listing // of all up to the end of the range, and of all; nil: none
	rules          map[string][]recordedRules
}

// recordedRules are the rules of a market from a time on.
type recordedRules struct {
	at    market.Time
	rules candles.Listed
}

// readRecords reads the oldest record, those of the range, and the newest one.
func (p *Backtest) readRecords() error {
	p.records = recorded{rules: map[string][]recordedRules{}}
	have, err := p.Candles.ListingRange()
	if err != nil || have.Days == 0 {
		return err
	}
	one := func(at market.Time, into **candles.Listing) error {
		return p.Candles.Listings(at, candles.DayStart(candles.DayOf(at)+1), func(l *candles.Listing) error {
			*into = l
			return nil
		})
	}
	if err := one(have.First, &p.records.oldest); err != nil {
		return err
	}
	if err := one(have.Last, &p.records.newest); err != nil {
		return err
	}
	p.records.add(p.records.oldest)
	return p.Candles.Listings(p.recordsFrom(), p.Run.To, func(l *candles.Listing) error {
		if p.Run.To == 0 || l.At < p.Run.To {
			p.records.add(l)
		}
		return nil
	})
}

// recordsFrom is the time from which the run reads records and volumes; 0: all.
func (p *Backtest) recordsFrom() market.Time {
	if p.Run.From == 0 {
		return 0
	}
	return candles.DayStart(candles.DayOf(p.Run.From) - maxWindow)
}

// add notes the rules of a record that differ from those before. Records come by time.
func (r *recorded) add(l *candles.Listing) {
	for i := range l.Markets {
		m := &l.Markets[i]
		list := r.rules[m.Market]
		if n := len(list); n == 0 || !sameRules(&list[n-1].rules, m) {
			r.rules[m.Market] = append(list, recordedRules{l.At, *m})
		}
	}
}

// sameRules compares everything but status, volumes and price.
func sameRules(a, b *candles.Listed) bool {
	x, y := *a, *b
	for _, l := range [...]*candles.Listed{&x, &y} {
		l.Status, l.Volume24h, l.VolumeQuote24h, l.Last = "", "", "", ""
	}
	return x == y
}

// rulesOf are the recorded rules of a market; a section of the config stands over them.
func (p *Backtest) rulesOf(name string) []recordedRules {
	if _, given := p.Config.Markets[name]; given {
		return nil
	}
	return p.records.rules[name]
}

// tickDigits are the decimals that the recorded ticks of a market need.
func (p *Backtest) tickDigits(name string) (digits uint8) {
	for _, r := range p.rulesOf(name) {
		digits = max(digits, config.Decimal(r.rules.TickSize).Digits())
	}
	return min(digits, market.MaxDigits)
}

// addChanges adds the recorded rules and the delistings to the run.
func (p *Backtest) addChanges() error {
	haircut, err := p.haircut()
	if err != nil {
		return err
	}
	p.Run.Haircut = haircut
	end := market.Time(0)
	for _, f := range p.Run.Feeds {
		stored, err := p.Candles.Span(f.Market.Name, f.Interval)
		if err != nil {
			return err
		}
		end = max(end, p.inRange(stored).To)
	}
	var before, today []string
	for _, m := range p.Catalog.Markets() {
		rules := p.ruleChanges(m)
		switch {
		case len(rules) == 0:
			today = append(today, m.Name)
		case p.records.oldest.At > p.Run.From:
			before = append(before, m.Name)
		}
		if at, ended, err := p.endOf(m, end); err != nil {
			return err
		} else if ended {
			if len(rules) == 0 {
				rules = []backtest.MarketChange{{Market: m.ID, Rules: &market.Rules{}}}
				*rules[0].Rules = m.Rules
			}
			rules = append(rules, backtest.MarketChange{At: at, Market: m.ID, Delisted: true})
		}
		p.Run.Changes = append(p.Run.Changes, rules...)
	}
	slices.SortStableFunc(p.Run.Changes, func(a, b backtest.MarketChange) int { return cmp.Compare(a.At, b.At) })
	p.sayRules(before, today)
	return nil
}

func (p *Backtest) haircut() (market.Rate, error) {
	given, path := p.Config.Backtest.DelistingHaircut, []string{"backtest", "delisting_haircut"}
	if given.Decimal == "" {
		return usualHaircut, nil
	}
	haircut, err := given.Rate(market.RateDigits)
	if err == nil && haircut > market.Whole {
		err = fmt.Errorf("%s is more than the whole price; want 0 to 1", given)
	}
	return haircut, config.At(path, err)
}

// ruleChanges are the recorded rules of a market as changes; those of the first record hold before
// it too. Rules that do not fit the market's units are left out, with a warning.
func (p *Backtest) ruleChanges(m *market.Market) (changes []backtest.MarketChange) {
	for i, r := range p.rulesOf(m.Name) {
		next := *m
		l := &r.rules
		given := rest.Market{Name: m.Name, Status: market.Trading.String(), TickSize: rest.Number(l.TickSize),
			MinOrderInBaseAsset: rest.Number(l.MinOrderInBase), MinOrderInQuoteAsset: rest.Number(l.MinOrderInQuote),
			MaxOrderInBaseAsset: rest.Number(l.MaxOrderInBase), MaxOrderInQuoteAsset: rest.Number(l.MaxOrderInQuote),
			QuantityDecimals: l.QuantityDecimals, NotionalDecimals: l.NotionalDecimals,
			MaxOpenOrders: int(l.MaxOpenOrders), FeeCategory: l.FeeCategory}
		if err := given.Apply(&next); err != nil {
			p.Options.Warnings = append(p.Options.Warnings, fmt.Sprintf("The rules recorded at %s are not used: %v.",
				r.at, err))
			continue
		}
		next.QuantityDecimals = min(next.QuantityDecimals, m.AmountDigits)
		next.NotionalDecimals = min(next.NotionalDecimals, m.QuoteDigits)
		if next.TickSize == 0 {
			next.TickSize = 1
		}
		c := backtest.MarketChange{At: r.at, Market: m.ID, Rules: &next.Rules}
		if i == 0 || r.at <= p.Run.From {
			c.At, changes = 0, changes[:0]
		}
		changes = append(changes, c)
	}
	if len(changes) > 0 {
		changes[0].At = 0
		m.Rules = *changes[0].Rules
	}
	return changes
}

// endOf is when a market was delisted, as far as that lies in the range: its candles end, and a
// later record does not list it; or, for a market of a universe without a later record, its candles
// end a week before the range does.
func (p *Backtest) endOf(m *market.Market, end market.Time) (at market.Time, ended bool, err error) {
	for _, f := range p.Run.Feeds {
		if f.Market != m {
			continue
		}
		stored, err := p.Candles.Span(m.Name, f.Interval)
		if err != nil {
			return 0, false, err
		}
		at = max(at, stored.To)
	}
	if at >= end {
		return 0, false, nil
	}
	if l := p.records.newest; l != nil && l.At >= at {
		return at, l.Named(m.Name) == nil, nil
	}
	return at, !p.named(m.Name) && at < end-candles.DayStart(delistedAfter), nil
}

// sayRules states which rules of markets the run applies.
func (p *Backtest) sayRules(before, today []string) {
	if p.records.oldest == nil || len(today) == len(p.Catalog.Markets()) {
		return
	}
	text := "Market rules (tick size, minimums, decimals) are those recorded at the time."
	if len(before) > 0 {
		text += fmt.Sprintf(" Before the first record, of %s, they are that record's.", dateOf(p.records.oldest.At))
	}
	if len(today) > 0 {
		text += fmt.Sprintf(" Today's, from the config, are applied to the past for %s.", strings.Join(today, ", "))
	}
	p.Run.Rules = text + " Fees are today's: the config's rates for all of the past."
}

func dateOf(t market.Time) string { return t.Std().Format("2006-01-02") }

// describeUniverses adds what the report says of the universes.
func (p *Backtest) describeUniverses() {
	for i := range p.Strategies {
		s := &p.Strategies[i]
		r, section := p.universes[s.Name], p.Config.Strategies[s.Name].Universe
		if r == nil {
			continue
		}
		u := backtest.Universe{Strategy: s.Name, Rank: section.Rank, Top: int(section.Top), Quote: p.Currency.Symbol,
			MinDays: p.ruleOf(section).MinDays, Members: len(r.ever), ByCandles: r.byCandles, ByRecords: r.byRecords,
			LeftOut: r.leftOut(), Changes: len(r.changes) - 1}
		if p.records.newest != nil {
			u.AsOf, u.Recorded = backtest.Moment(p.records.newest.At), backtest.Moment(p.records.oldest.At)
		}
		for _, name := range r.ever {
			if p.survives(name) {
				u.Survivors++
			}
		}
		p.Options.Universes = append(p.Options.Universes, u)
		p.Options.Assumptions = append(p.Options.Assumptions, fmt.Sprintf("A market is delisted where its candles end "+
			"and a later record lacks it, or without a record where they end %d days before the range. Its base is "+
			"worth the last price less a haircut of %s from then on.", delistedAfter, p.Run.Haircut))
	}
}

// survives reports whether a market still trades: by the newest record, else by its candles.
func (p *Backtest) survives(name string) bool {
	if p.records.newest != nil {
		l := p.records.newest.Named(name)
		return l != nil && l.Trading()
	}
	m := p.Catalog.MarketNamed(name)
	return !slices.ContainsFunc(p.Run.Changes, func(c backtest.MarketChange) bool {
		return c.Market == m.ID &&
			c.Delisted
	})
}
