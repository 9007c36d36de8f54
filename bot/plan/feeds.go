package plan

import (
	"cmp"
	"errors"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// addFeeds lists the series of the strategies, chooses the series that move the markets, and sorts
// all in the order of delivery: shorter intervals first, then by market.
func (p *Backtest) addFeeds() error {
	for i := range p.Strategies {
		if err := p.addFeedsOf(&p.Strategies[i]); err != nil {
			return err
		}
	}
	paths, err := p.paths()
	if err != nil {
		return err
	}
	for _, one := range paths {
		p.drive(one.market, one.chosen)
	}
	slices.SortFunc(p.Run.Feeds, func(a, b backtest.Feed) int {
		return cmp.Or(cmp.Compare(a.Interval, b.Interval), cmp.Compare(a.Market.ID, b.Market.ID))
	})
	return nil
}

// addFeedsOf lists the series of one strategy.
func (p *Backtest) addFeedsOf(s *backtest.StrategyPlan) error {
	needs, err := s.Kind.Needs(s.Values)
	if err != nil {
		return err
	}
	for _, m := range p.Catalog.Markets() {
		for _, c := range needs.Of(s.Interval) {
			if !s.Given(&needs, m) {
				continue
			}
			if err := p.addFeed(m, c.Interval); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Backtest) feed(m *market.Market, interval market.Interval) *backtest.Feed {
	for i := range p.Run.Feeds {
		if f := &p.Run.Feeds[i]; f.Market == m && f.Interval == interval {
			return f
		}
	}
	return nil
}

func (p *Backtest) addFeed(m *market.Market, interval market.Interval) error {
	if p.feed(m, interval) != nil {
		return nil
	}
	if _, err := p.Candles.Span(m.Name, interval); err != nil {
		return ExplainMissing(p.Candles, p.file(), m.Name, interval, err)
	}
	p.Run.Feeds = append(p.Run.Feeds, backtest.Feed{Market: m, Interval: interval, Deliver: true})
	return nil
}

// drive marks the series that moves a market. It adds the series if no strategy uses it.
func (p *Backtest) drive(m *market.Market, chosen market.Interval) {
	if p.feed(m, chosen) == nil {
		p.Run.Feeds = append(p.Run.Feeds, backtest.Feed{Market: m, Interval: chosen})
	}
	p.feed(m, chosen).Drive = true
}

func (p *Backtest) finestDelivered(m *market.Market) market.Interval {
	finest := market.Interval1M
	for _, f := range p.Run.Feeds {
		if f.Market == m {
			finest = min(finest, f.Interval)
		}
	}
	return finest
}

// pathInterval is the interval whose candles move a market that is traded alone: see
// backtest.path_interval.
func (p *Backtest) pathInterval(m *market.Market, finest market.Interval) (market.Interval, error) {
	path := []string{"backtest", "path_interval"}
	switch p.Config.Backtest.PathInterval {
	case "strategy":
		return finest, nil
	case config.PathAuto:
		return p.finestCovering(m, finest)
	}
	interval, err := market.ParseInterval(p.Config.Backtest.PathInterval)
	if err != nil {
		return 0, config.Keyf(path, "%q is neither auto nor strategy nor an interval: %w",
			config.Clip(p.Config.Backtest.PathInterval), err)
	}
	if interval > finest {
		return 0, config.Keyf(path, "%s is longer than the %s that a strategy trades on", interval, finest)
	}
	if _, err := p.Candles.Span(m.Name, interval); err != nil {
		return 0, ExplainMissing(p.Candles, p.file(), m.Name, interval, err)
	}
	return interval, nil
}

// finestCovering is the shortest interval whose candles cover the whole range.
func (p *Backtest) finestCovering(m *market.Market, finest market.Interval) (market.Interval, error) {
	for shorter := market.Interval1m; shorter < finest; shorter++ {
		covers, err := p.coversRange(m, shorter, finest)
		if covers || err != nil {
			return shorter, err
		}
	}
	return finest, nil
}

// coversRange reports whether a market has candles of a shorter interval wherever it has those of
// the main one, over the whole range.
func (p *Backtest) coversRange(m *market.Market, shorter, main market.Interval) (bool, error) {
	if !shorter.Divides(main) {
		return false, nil
	}
	fine, err := p.span(m.Name, shorter)
	if errors.Is(err, candles.ErrNoData) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	span, err := p.span(m.Name, main)
	if err != nil {
		return false, err
	}
	if span.From >= span.To || fine.From > span.From || fine.To < span.To {
		return false, nil
	}
	return p.covers(m.Name, shorter, main, span)
}

// span is that of a series in the range of the run. Where no candle of it starts there, it is
// empty.
func (p *Backtest) span(name string, interval market.Interval) (candles.Range, error) {
	part, err := p.part(name, interval, p.Run.From, p.Run.To)
	if part.Range == (candles.Range{}) {
		part.From, part.To = p.Run.From, p.Run.From
	}
	part.From = max(p.Run.From, part.From)
	if p.Run.To != 0 {
		part.To = min(part.To, p.Run.To)
	}
	return part.Range, err
}

// covers reports whether the candles of a finer interval are wherever those of the main one are, in
// a span.
func (p *Backtest) covers(name string, fine, main market.Interval, span candles.Range) (bool, error) {
	holes, err := p.Candles.Gaps(name, fine, span.From, span.To)
	if err != nil {
		return false, err
	}
	known, err := p.Candles.Gaps(name, main, span.From, span.To)
	for _, hole := range holes {
		start := main.Floor(hole.From)
		if start < hole.From {
			start = main.End(start)
		}
		whole := main.End(start) <= hole.To // a main candle fits into the hole
		if whole && !hole.NoTrade && !slices.ContainsFunc(known,
			func(g candles.Gap) bool { return g.From <= start && g.To >= main.Floor(hole.To) }) {
			return false, nil
		}
	}
	return true, err
}
