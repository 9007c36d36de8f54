package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/universe"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy"
)

// rankNow chooses the members of each universe. A live bot ranks at its start alone.
func (p *Live) rankNow(l *Listing) error {
	p.members, p.Notes = map[string][]string{}, nil
	for _, name := range p.Names() {
		section := p.Config.Strategies[name].Universe
		if section == nil {
			continue
		}
		members, how, err := p.membersNow(l, section)
		if err == nil && len(members) == 0 {
			err = fmt.Errorf("has no member: no market in %s has a known volume", p.sections.Currency)
		}
		if err != nil {
			return config.At([]string{"strategies", name, "universe"}, err)
		}
		p.members[name] = members
		p.Notes = append(p.Notes, fmt.Sprintf("universe of %s, %s, ranked now and at the next start: %s", name, how,
			strings.Join(members, " ")))
	}
	return nil
}

// membersNow are the members of a universe, the best first, and by what they were ranked: by the
// store that the config names, or else by the last 24 hours.
func (p *Live) membersNow(l *Listing, section *config.UniverseSection) (names []string, how string, err error) {
	rule := p.ruleOf(section)
	book, how := &universe.Book{}, fmt.Sprintf("top %d by %s", section.Top, section.Rank)
	if section.Records == "" {
		rule.Window, rule.MinDays = 1, 1
		how = fmt.Sprintf("top %d by the volume of the last 24 hours", section.Top)
		err = book.AddListing(lastDay(l))
	} else {
		book, err = p.storedVolumes(section.Records, l.At)
	}
	if err != nil {
		return nil, "", err
	}
	top := rule.Top
	rule.Top = math.MaxInt
	members, err := book.At(l.At, rule)
	for _, m := range members {
		if len(names) < top && l.trades(m.Market) {
			names = append(names, m.Market)
		}
	}
	return names, how, err
}

// lastDay is the listing as a record of yesterday, so that At reads it.
func lastDay(l *Listing) *candles.Listing {
	const half = market.Time(12 * 60 * 60 * 1e9)
	day := &candles.Listing{At: l.At - half}
	for i := range l.Volumes {
		v := &l.Volumes[i]
		day.Markets = append(day.Markets, candles.Listed{Market: v.Market, Status: market.Trading.String(),
			VolumeQuote24h: string(v.VolumeQuote)})
	}
	return day
}

// storedVolumes has the volumes of a candle store.
func (p *Live) storedVolumes(path string, now market.Time) (book *universe.Book, err error) {
	store, err := candles.Read(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	v := volumes{Library: Stored{store}, quote: p.sections.Currency, to: now,
		from: candles.DayStart(candles.DayOf(now) - maxWindow)}
	return v.book()
}

// trades reports whether the exchange lists a market as trading.
func (l *Listing) trades(name string) bool {
	for i := range l.Markets {
		if m := &l.Markets[i]; m.Name == name {
			return m.Status == market.Trading.String()
		}
	}
	return false
}

// namesOf are the markets of a strategy: those of its config, or the members of its universe and
// what it has left in others.
func (p *Live) namesOf(s *backtest.StrategyPlan) []string {
	members, has := p.members[s.Name]
	if !has {
		return p.Config.Strategies[s.Name].Markets
	}
	names := slices.Clone(members)
	for _, held := range p.Held[s.Name] {
		if !slices.Contains(names, held) {
			names = append(names, held)
		}
	}
	return names
}

// memberships are the members of a strategy's universe; nil: it has none.
func (p *Live) memberships(s *backtest.StrategyPlan) []strategy.Membership {
	members, has := p.members[s.Name]
	if !has {
		return nil
	}
	m := strategy.Membership{}
	for _, name := range members {
		m.Markets = append(m.Markets, p.Catalog.MarketNamed(name).ID)
	}
	return []strategy.Membership{m}
}
