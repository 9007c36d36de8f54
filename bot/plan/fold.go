package plan

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// compareFeeds finds the candles whose finer ones show other prices: the market moves by the longer
// candle there. A candle whose end lies behind the range is not compared: a part of its finer ones
// does.
func (p *Backtest) compareFeeds() error {
	for i, longer := range p.Run.Feeds { // the shorter ones come first
		for _, finer := range p.Run.Feeds[:i] { // each of them: one may have a hole where another hides prices
			if finer.Market != longer.Market || !finer.Interval.Divides(longer.Interval) {
				continue
			}
			spans, all, err := p.hidden(finer, longer)
			if err != nil {
				return err
			}
			if len(spans) > 0 {
				p.addCoarse(finer, longer, spans, all)
			}
		}
	}
	return nil
}

// addCoarse lets a market move by the longer candle in these spans, and says so. Spans of shorter
// candles that they meet are no longer any: a week that a month cuts goes on by its days.
func (p *Backtest) addCoarse(finer, longer backtest.Feed, spans []backtest.CoarseSpan, all int64) {
	m := longer.Market
	if p.Run.Coarse == nil {
		p.Run.Coarse = map[market.ID][]backtest.CoarseSpan{}
	}
	have := slices.DeleteFunc(p.Run.Coarse[m.ID], func(s backtest.CoarseSpan) bool {
		return slices.ContainsFunc(spans, func(o backtest.CoarseSpan) bool { return o.From < s.To && s.From < o.To })
	})
	have = append(have, spans...)
	slices.SortFunc(have, func(a, b backtest.CoarseSpan) int { return int(max(-1, min(1, a.To-b.To))) })
	p.Run.Coarse[m.ID] = have
	text := fmt.Sprintf("%s: %s candles hide prices of %d of %d %s candles, the first at %s; the market moves by the "+
		"%s candle there.", m.Name, finer.Interval, len(spans), all, longer.Interval, spans[0].From, longer.Interval)
	p.Options.Assumptions = append(p.Options.Assumptions, text)
	p.Options.Warnings = append(p.Options.Warnings, text+fmt.Sprintf(" Import the %s candles that are missing; bot "+
		"candles verify names the first difference.", finer.Interval))
}

// hidden are the candles of a feed that finer ones do not fold to, and how many it has.
func (p *Backtest) hidden(finer, longer backtest.Feed) (spans []backtest.CoarseSpan, all int64, err error) {
	var sources [2]backtest.Source
	for i, f := range [...]backtest.Feed{finer, longer} {
		if sources[i], err = p.Candles.open(f, p.Run.From, p.Run.To); err != nil {
			return nil, 0, err
		}
		defer sources[i].Close()
	}
	err = candles.Folds(sources[0], sources[1], func(whole, fold *market.Candle) error {
		end := whole.End()
		if p.Run.To != 0 && end > p.Run.To {
			return nil
		}
		if all++; fold != nil && !candles.SamePrices(whole, fold) {
			spans = append(spans, backtest.CoarseSpan{From: whole.Start, To: end, Interval: longer.Interval})
		}
		return nil
	})
	return spans, all, err
}
