package backtest

import (
	"fmt"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// StrategyPlan is one strategy with its markets and limits. Live bots use it too: it stands below
// every config, so that a program can plan a backtest without one.
type StrategyPlan struct {
	Name     string
	Kind     strategy.Definition
	Values   map[string]any // parameters as a config holds them
	Markets  []*market.Market
	Interval market.Interval
	Limits   risk.Limits
	Own      bool // it has an allocation of its own
	// Universe is the members over time; nil: all markets at all times.
	Universe []strategy.Membership
}

// Roster is the strategies of a plan, made, with what engine, gate and account must know of them.
// All but Own is by StrategyID − 1.
type Roster struct {
	Slots  []engine.StrategyConfig
	Limits []risk.Limits
	Needs  []strategy.Needs
	Own    []bool // by StrategyID: it has an allocation of its own
}

// reads are the markets of a catalog that a strategy reads beside those that it trades.
func (s *StrategyPlan) reads(c *market.Catalog, needs *strategy.Needs) (list []*market.Market, err error) {
	for _, name := range needs.Reads {
		m := c.MarketNamed(name)
		if m == nil {
			return nil, fmt.Errorf("it reads candles of %s, which is no market of this run", name)
		}
		list = append(list, m)
	}
	return list, nil
}

// Given reports whether the strategy, with these needs, gets the candles of a market: it trades or
// reads it.
func (s *StrategyPlan) Given(needs *strategy.Needs, m *market.Market) bool {
	return slices.Contains(s.Markets, m) || slices.Contains(needs.Reads, m.Name)
}

// NewRoster creates the strategies of a catalog's markets. Each logs to log under its name. An
// error names the strategy that failed.
func NewRoster(c *market.Catalog, strategies []StrategyPlan, log zerolog.Logger) (*Roster, error) {
	r := &Roster{Own: make([]bool, len(strategies)+1)}
	for i := range strategies {
		s := &strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			return nil, fmt.Errorf("strategy %s: %w", s.Name, err)
		}
		reads, err := s.reads(c, &needs)
		if err != nil {
			return nil, fmt.Errorf("strategy %s: %w", s.Name, err)
		}
		made, err := s.Kind.New(s.Values, strategy.Setup{Markets: s.Markets, Interval: s.Interval, Reads: reads})
		if err != nil {
			return nil, fmt.Errorf("strategy %s: %w", s.Name, err)
		}
		slot := engine.StrategyConfig{
			Name: s.Name, Strategy: made, Ticker: needs.Ticker, Book: needs.Book, Universe: s.Universe,
			Signals: needs.Signals, Log: log,
		}
		for _, c := range needs.Of(s.Interval) {
			slot.Intervals, slot.Warmup = append(slot.Intervals, c.Interval), append(slot.Warmup, c.Warmup)
		}
		for _, m := range s.Markets {
			slot.Markets = append(slot.Markets, m.ID)
		}
		for _, m := range reads {
			slot.Reads = append(slot.Reads, m.ID)
		}
		r.Slots, r.Limits, r.Needs = append(r.Slots, slot), append(r.Limits, s.Limits), append(r.Needs, needs)
		r.Own[i+1] = s.Own
	}
	return r, nil
}

// ReadFrom is the time from which the run reads a feed: early enough for the longest warm-up of the
// strategies in its market. A hash of the run's data begins there too.
func (p *Plan) ReadFrom(f Feed) market.Time { return p.History(f, 1) }

// History is ReadFrom with a multiple of the warm-up.
func (p *Plan) History(f Feed, times int) market.Time {
	if p.From == 0 || p.ColdStart {
		return p.From
	}
	return historyBefore(p.From, f, Warmup(p.Strategies, f.Market, f.Interval)*times)
}

// historyBefore is the start of a number of candles before the one of a time.
func historyBefore(at market.Time, f Feed, candles int) market.Time {
	return max(f.Interval.StartOf(max(f.Interval.Index(at)-int64(candles), 0)), 0)
}

// Warmup is how many candles of an interval the longest warm-up of the strategies in a market
// needs: a backtest reads them before its range, a live bot before it begins. Of these, each
// strategy receives as many as it needs by itself (engine.SeeFrom). A series that a strategy does
// not receive covers the time of its longest warm-up: it moves the market meanwhile.
func Warmup(strategies []StrategyPlan, m *market.Market, interval market.Interval) (candles int) {
	for i := range strategies {
		s := &strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil || !s.Given(&needs, m) {
			continue
		}
		span, received := market.Time(0), -1
		for _, c := range needs.Of(s.Interval) {
			span = max(span, c.Interval.End(0)*market.Time(c.Warmup))
			if c.Interval == interval {
				received = c.Warmup
			}
		}
		if received < 0 {
			received = int((span + interval.End(0) - 1) / interval.End(0))
		}
		candles = max(candles, received)
	}
	return candles
}
