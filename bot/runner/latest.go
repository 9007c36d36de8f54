package runner

import (
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/market"
)

// latestCandles are the newest candles of each series, as many as the warm-ups take: a snapshot has
// them.
type latestCandles map[poll.Series]*latestSeries

// latestSeries is a list that holds between most and 2·most candles, and is trimmed in bulk.
type latestSeries struct {
	most    int
	candles []market.Candle
}

// newLatestCandles returns the list for the strategies of a bot, with the parameters that a plan
// has of them, without candles.
func (r *runner) newLatestCandles(strategies []backtest.StrategyPlan) latestCandles {
	all := latestCandles{}
	for _, s := range r.series() {
		if n := backtest.Warmup(strategies, r.plan.Catalog.Market(s.Market), s.Interval); n > 0 {
			all[s] = &latestSeries{most: n}
		}
	}
	return all
}

// add appends candles.
func (l latestCandles) add(candles []market.Candle) {
	for i := range candles {
		c := &candles[i]
		s := l[poll.Series{Market: c.Market, Interval: c.Interval}]
		if s == nil {
			continue
		}
		if len(s.candles) == 2*s.most {
			s.candles = append(s.candles[:0], s.candles[s.most:]...)
		}
		s.candles = append(s.candles, *c)
	}
}

// all are the candles of all warm-ups, in the order of their close.
func (l latestCandles) all() (all []market.Candle) {
	for _, s := range l {
		all = append(all, s.candles[max(0, len(s.candles)-s.most):]...)
	}
	slices.SortFunc(all, inOrderOfClose)
	return all
}
