package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/universe"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Ranking is the universe of a strategy on one UTC day. A state file keeps it as JSON, so that a
// restart on the same day has the same members.
type Ranking struct {
	Rule string `json:"rule"` // by what it was ranked; another rule needs a new ranking
	Day  int64  `json:"day"`  // counted from 1970-01-01
	Top  int    `json:"top"`
	Next int    `json:"next"` // how many more are watched, to come in
	// Markets are the best ranked, at most Top + Next.
	Markets []string `json:"markets"`
}

// From is the beginning of the ranking's day.
func (r *Ranking) From() market.Time { return candles.DayStart(r.Day) }

// Date is the ranking's day, like 2024-01-31.
func (r *Ranking) Date() string { return dateOf(r.From()) }

// Split returns the members among the markets that a strategy trades, the best ranked first, and
// the markets that rank as high and that the strategy does not trade until the next start. Traded
// markets of a lower rank take their places.
func (r *Ranking) Split(traded []*market.Market) (members []*market.Market, missing []string) {
	for i, name := range r.Markets {
		at := slices.IndexFunc(traded, func(m *market.Market) bool { return m.Name == name })
		switch {
		case at < 0 && i < r.Top:
			missing = append(missing, name)
		case at >= 0 && len(members) < r.Top:
			members = append(members, traded[at])
		}
	}
	return members, missing
}

// ready is how many markets beside the members a bot holds ready.
func ready(u *config.UniverseSection) int {
	if u.Standby != nil {
		return int(*u.Standby)
	}
	return int(u.Top+3) / 4
}

// ruleText says by what a live bot ranks.
func ruleText(u *config.UniverseSection) string {
	if u.Records == "" {
		return fmt.Sprintf("top %d by the volume of the last 24 hours", u.Top)
	}
	return fmt.Sprintf("top %d by %s", u.Top, u.Rank)
}

// rankNow chooses the markets of each universe for the day of a listing: those of an earlier start
// on this day, or else the best now.
func (p *Live) rankNow(l *Listing) error {
	p.Rankings, p.Notes = map[string]Ranking{}, nil
	for _, name := range p.Names() {
		section := p.Config.Strategies[name].Universe
		if section == nil {
			continue
		}
		today, when := candles.DayOf(l.At), "ranked earlier today"
		r := p.Ranked[name]
		r.Markets = slices.DeleteFunc(slices.Clone(r.Markets), func(name string) bool { return l.named(name) == nil })
		if r.Day != today || r.Rule != ruleText(section) || r.Next != ready(section) || len(r.Markets) == 0 {
			var err error
			if r, err = p.rank(l, name, section, today); err != nil {
				return err
			}
			when = "ranked now"
		}
		p.Rankings[name] = r
		note := fmt.Sprintf("universe of %s, %s, %s for %s: %s", name, r.Rule, when, r.Date(),
			strings.Join(r.Markets[:min(r.Top, len(r.Markets))], " "))
		if len(r.Markets) > r.Top {
			note += "; ready to come in: " + strings.Join(r.Markets[r.Top:], " ")
		}
		p.Notes = append(p.Notes, note)
	}
	return nil
}

// Rank ranks the markets of each universe for a UTC day, by strategy. It changes nothing; any
// goroutine may call it once Finish has returned.
func (p *Live) Rank(l *Listing, day int64) (map[string]Ranking, error) {
	all := make(map[string]Ranking, len(p.Rankings))
	for name := range p.Rankings {
		r, err := p.rank(l, name, p.Config.Strategies[name].Universe, day)
		if err != nil {
			return nil, err
		}
		all[name] = r
	}
	return all, nil
}

// rank ranks the markets of a universe for a UTC day: by the store that the config names, as a
// backtest does, or else by the last 24 hours.
func (p *Live) rank(l *Listing, name string, section *config.UniverseSection, day int64) (Ranking, error) {
	r, rule := Ranking{Rule: ruleText(section), Day: day, Top: int(section.Top), Next: ready(section)},
		p.ruleOf(section)
	book, at := &universe.Ranking{}, candles.DayStart(day)
	var err error
	if section.Records == "" {
		rule.Window, rule.MinDays, at = 1, 1, l.At
		err = book.AddListing(lastDay(l))
	} else {
		book, err = p.storedVolumes(section.Records, max(at, l.At))
	}
	if err == nil {
		r.Markets, err = l.best(book, at, rule, r.Top+r.Next)
	}
	if err == nil && len(r.Markets) == 0 && l.At > at { // recorded for the first time today
		r.Markets, err = l.best(book, l.At, rule, r.Top+r.Next)
	}
	if err == nil && len(r.Markets) == 0 {
		err = fmt.Errorf("has no member: no market in %s has a known volume", p.sections.Currency)
	}
	return r, config.At([]string{"strategies", name, "universe"}, err)
}

// best are the first so many markets of a ranking that the exchange lists as trading.
func (l *Listing) best(book *universe.Ranking, at market.Time, rule universe.Rule, count int) (names []string,
	err error) {
	rule.Top = math.MaxInt
	ranked, err := book.At(at, rule)
	for i := range ranked {
		if name := ranked[i].Market; len(names) < count && l.trades(name) {
			names = append(names, name)
		}
	}
	return names, err
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
func (p *Live) storedVolumes(path string, to market.Time) (book *universe.Ranking, err error) {
	store, err := candles.Read(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	v := volumes{Library: Stored{store}, quote: p.sections.Currency, to: to,
		from: candles.DayStart(candles.DayOf(to) - maxWindow)}
	return v.book()
}

// named is the listed market of a name, or nil.
func (l *Listing) named(name string) *rest.Market {
	for i := range l.Markets {
		if m := &l.Markets[i]; m.Name == name {
			return m
		}
	}
	return nil
}

// trades reports whether the exchange lists a market as trading.
func (l *Listing) trades(name string) bool {
	m := l.named(name)
	return m != nil && m.Status == market.Trading.String()
}

// Volumes requests what Rank needs of a Listing: markets and their volumes of the last 24 hours.
func (a *Access) Volumes(ctx context.Context, c *rest.Client) (l Listing, err error) {
	if l.Markets, err = c.Markets(ctx, ""); err != nil {
		return l, fmt.Errorf("markets: %w", err)
	}
	l.At = c.Now()
	if l.Volumes, err = c.Tickers24h(ctx, ""); err != nil {
		return l, fmt.Errorf("volumes of 24 hours: %w", err)
	}
	return l, nil
}

// namesOf are the markets of a strategy: those of its config, or those of its universe, and what it
// has left in others.
func (p *Live) namesOf(s *backtest.StrategyPlan) []string {
	r, has := p.Rankings[s.Name]
	if !has {
		return p.Config.Strategies[s.Name].Markets
	}
	names := slices.Clone(r.Markets)
	for _, held := range p.Held[s.Name] {
		if !slices.Contains(names, held) {
			names = append(names, held)
		}
	}
	return names
}

// memberships are the members of a strategy's universe; nil: it has none.
func (p *Live) memberships(s *backtest.StrategyPlan) []strategy.Membership {
	r, has := p.Rankings[s.Name]
	if !has {
		return nil
	}
	members := r.Membership(s.Markets)
	members.From = 0 // of the warm-up too
	return []strategy.Membership{members}
}

// Membership is the members among the markets that a strategy trades, from the ranking's day on.
func (r *Ranking) Membership(traded []*market.Market) strategy.Membership {
	of := strategy.Membership{From: r.From()}
	members, _ := r.Split(traded)
	for _, m := range members {
		of.Markets = append(of.Markets, m.ID)
	}
	return of
}
