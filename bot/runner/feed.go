package runner

import (
	"context"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/market"
)

// openFeed makes the feed of the market data that the strategies need, from the last delivered
// candles on.
func (r *runner) openFeed(context.Context) error {
	p := r.plan
	config := poll.Config{Data: r.watch.data(r.client), Catalog: p.Catalog, Log: r.log, Depth: int(p.Config.Poll.Depth),
		TickerEvery: market.Duration(p.Config.Poll.Tickers), BookEvery: market.Duration(p.Config.Poll.Books),
		RulesEvery: market.Duration(p.Config.Poll.Rules), Settle: market.Duration(p.Config.Poll.Settle),
		MaxCandleAge: market.Duration(p.Config.Poll.CandleAge), Stale: r.stale}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		for _, m := range p.Offered(s) {
			config.Tickers = addNew(config.Tickers, m.ID)
			if r.needs[i].Book {
				config.Books = addNew(config.Books, m.ID)
			}
		}
	}
	for _, s := range r.series() {
		last, err := r.lastCandle(&s)
		if err != nil {
			return err
		}
		if s.Last = last; last == 0 {
			s.Last = s.Interval.StartOf(s.Interval.Index(r.began) - 1)
		}
		config.Series = append(config.Series, s)
	}
	if err := r.openStreams(&config); err != nil {
		return err
	}
	r.feed = poll.New(config)
	r.journal.askRules = r.feed.AskRules
	return nil
}

func addNew[T comparable](list []T, one T) []T {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}

// stale logs that the exchange sends no prices.
func (r *runner) stale(silent market.Duration) {
	r.watch.stale(silent)
	r.log.Warn().Stringer("silent_for", silent).
		Msg("no prices from the exchange: nothing is opened on old ones where max_data_age is set")
}

// events are the loop's market events; in paper mode after the simulated exchange has processed
// them.
func (r *runner) events() <-chan market.Event {
	if r.paper != nil {
		return r.paper.events
	}
	return r.feed.Events()
}

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
