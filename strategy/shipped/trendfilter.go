package shipped

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// TrendFilter trades on short candles, and only while the days rise: two exponential averages
// decide on the main interval, a third one over days allows. It never trades against the days and
// keeps no order resting.
//
// # Rules
//
// Two averages of closes of the main interval, over `fast` and `slow` candles, and one of daily
// closes, over `days`.
//
//   - The days rise while the last daily close is above the daily average.
//   - Entry. At a close of the main interval, without a position and without an open order: if the
//     days rise and the fast average is above the slow one, buy `size` at market.
//   - Exit. With a position: if the days do not rise, or the fast average is not above the slow
//     one, leave it (MarketDesk.Close).
//
// Candles that close at one instant come with the shorter interval first: the last hour of a day is
// decided with the days before it, and the day counts from the next hour on. Each market is traded
// for itself; markets with the same quote asset share its cash.
//
// # Parameters
//
// fast and slow count candles of the main interval, with fast below slow. days counts days; 0
// leaves the filter out. With a filter, the main interval is shorter than a day.
var TrendFilter = strategy.Define("trendfilter",
	"holds while a fast average is above a slow one and the daily closes are above theirs",
	trendFilterParams.needs, trendFilterParams.build)

type trendFilterParams struct {
	Fast int           `toml:"fast" default:"12" min:"1" max:"1000" doc:"candles of the fast average"`
	Slow int           `toml:"slow" default:"48" min:"2" max:"5000" doc:"candles of the slow average"`
	Days int           `toml:"days" default:"20" min:"0" max:"400" doc:"days of the daily average; 0: no filter"`
	Size strategy.Size `toml:"size" default:"95% cash" doc:"how much to buy"`
}

// Validate asks for a fast average that is faster than the slow one.
func (p trendFilterParams) Validate() error {
	if p.Fast >= p.Slow {
		return fmt.Errorf("parameter fast: %d is not below slow, which is %d", p.Fast, p.Slow)
	}
	return nil
}

func (p trendFilterParams) needs() strategy.Needs {
	slow := indicator.NewEMA(p.Slow)
	if p.Days == 0 {
		return strategy.Needs{Warmup: slow.Warmup()}
	}
	days := indicator.NewEMA(p.Days)
	return strategy.Needs{Warmup: slow.Warmup(), Intervals: strategy.Intervals{market.Interval1d: days.Warmup()}}
}

type trendFilter struct {
	strategy.Base
	trendFilterParams
	lines strategy.PerMarket[trendLines]
}

// trendLines are the averages of one market.
type trendLines struct {
	fast, slow, days indicator.EMA
	rising           bool // the last daily close was above its average
}

func (p trendFilterParams) build(s strategy.Setup) (strategy.Strategy, error) {
	if p.Days > 0 && s.Interval >= market.Interval1d {
		return nil, fmt.Errorf("interval %s: the main interval must be shorter than a day", s.Interval)
	}
	fresh := func(market.Market) trendLines {
		return trendLines{fast: indicator.NewEMA(p.Fast), slow: indicator.NewEMA(p.Slow),
			days: indicator.NewEMA(max(p.Days, 1)), rising: p.Days == 0}
	}
	return &trendFilter{trendFilterParams: p, lines: strategy.Each(s, fresh)}, nil
}

// OnCandle takes a day into the filter, or decides at a close of the main interval.
func (t *trendFilter) OnCandle(d *strategy.Desk, c market.Candle) {
	m, x := d.In(c.Market), t.lines.In(c.Market)
	if c.Interval == market.Interval1d && t.Days > 0 {
		x.days.Push(c.Close)
		x.rising = x.days.Ready() && c.Close > x.days.Above(0)
		return
	}
	x.fast.Push(c.Close)
	x.slow.Push(c.Close)
	holds := x.rising && x.slow.Ready() && x.fast.Value() > x.slow.Value()
	switch {
	case holds && m.Flat():
		m.Buy(t.Size, strategy.Tag("days rise"))
	case !holds && m.Held() > 0:
		m.Close(strategy.Tag("trend over"))
	}
}
