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

// recorded has the rules of a run's markets from the records of an exchange.
type recorded struct {
	oldest, newest *candles.Listing // of those before the end of the range; nil: none
	rules          map[string][]recordedRules
	fees           map[string][]recordedFees
}

// recordedRules are the rules of a market from a time on.
type recordedRules struct {
	at    market.Time
	rules candles.Listed
}

// recordedFees are the account's rates in a market from a time on, as the exchange wrote them.
type recordedFees struct {
	at           market.Time
	maker, taker string
}

// rates are the fees as numbers.
func (r *recordedFees) rates() (fees backtest.Fees, err error) {
	for _, one := range [...]struct {
		text string
		into *market.Rate
	}{{r.maker, &fees.Maker}, {r.taker, &fees.Taker}} {
		n, err := market.ParseFixed(one.text, market.RateDigits)
		if err != nil {
			return fees, err
		}
		*one.into = market.Rate(n)
	}
	if max(fees.Maker, fees.Taker) >= market.Whole || fees.Maker+fees.Taker < 0 {
		err = fmt.Errorf("maker %s and taker %s are no fees", r.maker, r.taker)
	}
	return fees, err
}

// readRecords reads the oldest record and those of the range. One from after the range's end says
// nothing of the run: it would change the past.
func (p *Backtest) readRecords() error {
	p.records = recorded{rules: map[string][]recordedRules{}, fees: map[string][]recordedFees{}}
	have, err := p.Candles.ListingRange()
	if err != nil || have.Days == 0 {
		return err
	}
	note := func(l *candles.Listing) error {
		if p.Run.To != 0 && l.At >= p.Run.To {
			return nil
		}
		if p.records.oldest == nil {
			p.records.oldest = l
		}
		p.records.newest = l
		p.records.add(l)
		return nil
	}
	if err := p.Candles.Listings(have.First, candles.DayStart(candles.DayOf(have.First)+1), note); err != nil {
		return err
	}
	return p.Candles.Listings(p.recordsFrom(), p.Run.To, note)
}

// recordsFrom is the time from which the run reads records and volumes; 0: all.
func (p *Backtest) recordsFrom() market.Time {
	if p.Run.From == 0 {
		return 0
	}
	return candles.DayStart(candles.DayOf(p.Run.From) - maxWindow)
}

// add notes the rules and the fees of a record that differ from those before. A record without fees
// says nothing of them. Records come by time.
func (r *recorded) add(l *candles.Listing) {
	for i := range l.Markets {
		m := &l.Markets[i]
		list := r.rules[m.Market]
		if n := len(list); n == 0 || !sameRules(&list[n-1].rules, m) {
			r.rules[m.Market] = append(list, recordedRules{l.At, *m})
		}
		fees, next := r.fees[m.Market], recordedFees{l.At, m.MakerFee, m.TakerFee}
		n := len(fees)
		if next.maker != "" && next.taker != "" &&
			(n == 0 || fees[n-1].maker != next.maker || fees[n-1].taker != next.taker) {
			r.fees[m.Market] = append(fees, next)
		}
	}
}

// sameRules compares everything but status, fees, volumes and price.
func sameRules(a, b *candles.Listed) bool {
	x, y := *a, *b
	for _, l := range [...]*candles.Listed{&x, &y} {
		l.Status, l.Volume24h, l.VolumeQuote24h, l.Last, l.MakerFee, l.TakerFee = "", "", "", "", "", ""
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
		span, err := p.span(f.Market.Name, f.Interval)
		if err != nil {
			return err
		}
		end = max(end, span.To)
	}
	var before, today []string
	var fees feeRecords
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
		p.Run.Changes = append(append(p.Run.Changes, rules...), p.feeChanges(m, &fees)...)
	}
	slices.SortStableFunc(p.Run.Changes, func(a, b backtest.MarketChange) int { return cmp.Compare(a.At, b.At) })
	p.sayRules(before, today, &fees)
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

// feeRecords is what the report says of recorded fees.
type feeRecords struct {
	first   market.Time // of the oldest used ones; 0: none are used
	without []string    // markets whose fees are not recorded
}

// feesInConfig reports whether the config sets a fee: then recorded ones are not used.
func (p *Backtest) feesInConfig() bool {
	return p.Config.Source.Sets("account", "maker_fee") || p.Config.Source.Sets("account", "taker_fee")
}

// feeChanges are the recorded fees of a market as changes; the first hold before their record too.
func (p *Backtest) feeChanges(m *market.Market, said *feeRecords) (changes []backtest.MarketChange) {
	if p.feesInConfig() {
		return nil
	}
	for _, r := range p.records.fees[m.Name] {
		fees, err := r.rates()
		if err != nil {
			p.Options.Warnings = append(p.Options.Warnings, fmt.Sprintf("The fees recorded at %s for %s are not used: "+
				"%v.", r.at, m.Name, err))
			continue
		}
		c := backtest.MarketChange{At: r.at, Market: m.ID, Fees: &fees}
		if len(changes) == 0 && (said.first == 0 || r.at < said.first) {
			said.first = r.at
		}
		if len(changes) == 0 || r.at <= p.Run.From {
			c.At, changes = 0, changes[:0]
		}
		changes = append(changes, c)
	}
	if len(changes) == 0 {
		said.without = append(said.without, m.Name)
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
		span, err := p.span(m.Name, f.Interval)
		if err != nil {
			return 0, false, err
		}
		at = max(at, span.To)
	}
	if at >= end {
		return 0, false, nil
	}
	if l := p.records.newest; l != nil && l.At >= at {
		return at, l.Named(m.Name) == nil, nil
	}
	return at, !p.named(m.Name) && at < end-candles.DayStart(delistedAfter), nil
}

// sayRules states which rules of markets and which fees the run applies.
func (p *Backtest) sayRules(before, today []string, fees *feeRecords) {
	if p.records.oldest == nil || len(today) == len(p.Catalog.Markets()) {
		if len(p.records.fees) > 0 {
			p.Run.Rules = "Today's market rules (tick size, minimums, decimals) are applied to the past." +
				p.sayFees(fees)
		}
		return
	}
	text := "Market rules (tick size, minimums, decimals) are those recorded at the time."
	if len(before) > 0 {
		text += fmt.Sprintf(" Before the first record, of %s, they are that record's.", dateOf(p.records.oldest.At))
	}
	if len(today) > 0 {
		text += fmt.Sprintf(" Today's, from the config, are applied to the past for %s.", strings.Join(today, ", "))
	}
	p.Run.Rules = text + p.sayFees(fees)
}

// sayFees states which fees the run charges.
func (p *Backtest) sayFees(fees *feeRecords) string {
	switch {
	case len(p.records.fees) > 0 && p.feesInConfig():
		return " Fees are the config's (account.maker_fee, account.taker_fee) for all of the past; the recorded ones " +
			"are not used."
	case fees.first == 0:
		return " Fees are today's: the config's rates for all of the past."
	}
	text := " Fees are those recorded at the time, of the account that recorded them."
	if fees.first > p.Run.From {
		text += fmt.Sprintf(" Before the first record with fees, of %s, they are that record's.", dateOf(fees.first))
	}
	if len(fees.without) > 0 {
		text += fmt.Sprintf(" Today's, the config's rates, are charged in %s.", strings.Join(fees.without, ", "))
	}
	return text
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
		return c.Market == m.ID && c.Delisted
	})
}
