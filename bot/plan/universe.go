package plan

import (
	"cmp"
	"errors"
	"maps"
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

// maxTop bounds the members of a universe.
const maxTop = 1000

// maxWindow is more than the days of the longest rank.
const maxWindow = 40

// checkUniverse checks the universe of a strategy.
func (p *Plan) checkUniverse(path []string, s *config.StrategySection) error {
	u, key := s.Universe, func(name string) []string { return config.Join(config.Join(path, "universe"), name) }
	switch {
	case len(s.Markets) > 0:
		return config.Keyf(config.Join(path, "markets"),
			"markets and universe: a strategy has one of them; leave out the other")
	case u.Rank == "":
		return config.Keyf(key("rank"), "is missing; want one of %s", strings.Join(universe.Ranks(), ", "))
	case universe.Window(u.Rank) == 0:
		return config.Keyf(key("rank"), "%q is not one of %s; the nearest is %q", config.Clip(u.Rank),
			strings.Join(universe.Ranks(), ", "), strategy.Nearest(u.Rank, universe.Ranks()))
	case u.Top < 1 || u.Top > maxTop:
		return config.Keyf(key("top"), "%d is not in 1 to %d; want the number of markets, like 20", u.Top, maxTop)
	case u.Quote != "" && u.Quote != p.sections.Currency:
		return config.Keyf(key("quote"), "%s is not %s, the account's currency", config.Clip(u.Quote),
			p.sections.Currency)
	case u.Standby != nil && *u.Standby > maxTop:
		return config.Keyf(key("standby"), "%d is not in 0 to %d", *u.Standby, maxTop)
	case u.MinDays > int64(universe.Window(u.Rank)):
		return config.Keyf(key("min_days"), "%d is more than the %d days of %s", u.MinDays, universe.Window(u.Rank),
			u.Rank)
	}
	return nil
}

// ruleOf is the rule of a universe.
func (p *Plan) ruleOf(u *config.UniverseSection) universe.Rule {
	window := universe.Window(u.Rank)
	return universe.Rule{Window: window, Top: int(u.Top), Quote: p.sections.Currency,
		MinDays: cmp.Or(int(u.MinDays), universe.UsualDays(window))}
}

// universes are the universes of a backtest by name of strategy.
type universes map[string]*ranked

// ranked is the members of a strategy's universe over the range.
type ranked struct {
	changes   []rankedDay
	ever      []string         // the most days first
	days      map[string]int64 // by market: how many it was a member
	byCandles int64            // members, counted each day, whose newest volume came from candles …
	byRecords int64            // … and from a record
	left      map[string]bool  // ranked high enough, and left out: no candles of the interval
}

// rankedDay is the members from a time on.
type rankedDay struct {
	from    market.Time
	members []string
}

// rankUniverses ranks the markets of the library for each strategy with a universe.
func (p *Backtest) rankUniverses() error {
	p.universes = universes{}
	var book *universe.Ranking
	for i := range p.Strategies {
		s := &p.Strategies[i]
		section := p.Config.Strategies[s.Name].Universe
		if section == nil {
			continue
		}
		if book == nil {
			var err error
			known := &volumes{Library: p.Candles, quote: p.Currency.Symbol, from: p.recordsFrom(), to: p.Run.To}
			if book, err = known.book(); err != nil {
				return err
			}
		}
		r, err := p.rank(book, s, section)
		if err == nil && len(r.ever) == 0 {
			err = config.Keyf([]string{"strategies", s.Name, "universe"},
				"has no member in the range: no market in %s "+
					"has candles of %s and a known volume on %d days; fetch candles, or lower min_days",
				p.Currency.Symbol, s.Interval, p.ruleOf(section).MinDays)
		}
		if err != nil {
			return err
		}
		p.universes[s.Name] = r
	}
	return nil
}

// rank ranks the markets at the beginning of each day of the range.
func (p *Backtest) rank(book *universe.Ranking, s *backtest.StrategyPlan, section *config.UniverseSection) (*ranked,
	error) {
	r, rule := &ranked{days: map[string]int64{}, left: map[string]bool{}}, p.ruleOf(section)
	stored, span, err := p.storedAt(s.Interval)
	if err != nil || span.From >= span.To {
		return r, err
	}
	all := rule
	all.Top = math.MaxInt
	for day := candles.DayOf(span.From); candles.DayStart(day) < span.To; day++ {
		members, err := book.At(candles.DayStart(day), all)
		if err != nil {
			return nil, err
		}
		names := r.choose(members, rule.Top, stored)
		if n := len(r.changes); n == 0 || !slices.Equal(r.changes[n-1].members, names) {
			r.changes = append(r.changes, rankedDay{candles.DayStart(day), names})
		}
	}
	r.ever = slices.SortedFunc(maps.Keys(r.days), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.days[b], r.days[a]), strings.Compare(a, b))
	})
	return r, nil
}

// choose takes the members of a day: the first markets that have candles.
func (r *ranked) choose(members []universe.Member, top int, stored map[string]bool) (names []string) {
	for _, m := range members {
		switch {
		case len(names) == top:
			return names
		case !stored[m.Market]:
			r.left[m.Market] = true
			continue
		case m.Source == universe.FromCandles:
			r.byCandles++
		default:
			r.byRecords++
		}
		r.days[m.Market]++
		names = append(names, m.Market)
	}
	return names
}

// leftOut are the markets without candles, sorted.
func (r *ranked) leftOut() []string {
	names := slices.AppendSeq([]string{}, maps.Keys(r.left))
	slices.Sort(names)
	return names
}

// storedAt are the markets that have candles of an interval, and the part of the range in which any
// of them has.
func (p *Backtest) storedAt(interval market.Interval) (stored map[string]bool, span candles.Range, err error) {
	stored = map[string]bool{}
	names, err := p.Candles.Markets()
	for _, name := range names {
		have, err := p.span(name, interval)
		if errors.Is(err, candles.ErrNoData) || err == nil && have.From >= have.To {
			continue
		}
		if err != nil {
			return nil, span, err
		}
		if len(stored) == 0 {
			span = have
		}
		stored[name] = true
		span = candles.Range{From: min(span.From, have.From), To: max(span.To, have.To)}
	}
	return stored, span, err
}
