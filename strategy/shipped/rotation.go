package shipped

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// Rotation holds the strongest of several markets: once a week it ranks them by momentum, and
// divides its equity equally among the best. It never chooses a market whose price has fallen over
// the time that it looks at: that part stays cash.
//
// # Rules
//
// The momentum of a market is its rate of change: how much its close of the main interval has risen
// over the last `candles` candles of it.
//
//   - Each market's candles are taken in when the last market has closed. A market without a trade
//     keeps its momentum; one with too few candles has none.
//   - At the first close of each `every` (weeks begin on Monday, 00:00 UTC) the markets are ranked.
//     The `top` best with a momentum above zero get `share` ÷ `top` of the equity each, all others
//     nothing. Where fewer than `top` have risen, their parts stay cash.
//   - The weights are reached with one call of Desk.Rebalance: what is sold pays for what is
//     bought, at the same open in a backtest. A market whose share differs from its weight by less
//     than `band` keeps its units; one that is no longer among the best is sold whole.
//
// The first close of a run is never one at which it ranks: it does not know yet whether a new week
// has begun. A plan that is refused is not asked for again until the next week; the log has the
// reason.
//
// # Parameters
//
// candles counts candles of the main interval; every is an interval, such as "1W" or "1d", and not
// shorter than the main one. All markets have the same quote asset. With more than top markets it
// chooses; with as many it only leaves those that fall.
//
// With a universe in the config, only its present members are ranked, and a market that leaves it
// is sold at the next ranking.
var Rotation = strategy.Define("rotation", "holds the markets with the best momentum, chosen anew each week",
	rotationParams.needs, rotationParams.build)

type rotationParams struct {
	Top     int             `toml:"top" default:"3" min:"1" max:"100" doc:"how many markets to hold"`
	Candles int             `toml:"candles" default:"30" min:"1" max:"5000" doc:"candles of the momentum"`
	Every   market.Interval `toml:"every" default:"1W" doc:"how often to choose anew"`
	Share   market.Rate     `toml:"share" default:"100%" min:"0.000001%" max:"100%" doc:"part of the equity to invest"`
	Band    market.Rate     `toml:"band" default:"2%" min:"0%" max:"100%" doc:"difference from its weight at which a market is traded"`
}

func (p rotationParams) needs() strategy.Needs {
	momentum := indicator.NewROC(p.Candles)
	return strategy.Needs{Warmup: momentum.Warmup()}
}

type rotation struct {
	strategy.Base
	rotationParams
	markets  []*market.Market
	momentum strategy.PerMarket[indicator.ROC]
	period   int64 // of the latest close, as Every numbers them
	begun    bool  // period is known
}

func (p rotationParams) build(s strategy.Setup) (strategy.Strategy, error) {
	if p.Every < s.Interval {
		return nil, fmt.Errorf("parameter every: %s is shorter than the main interval, which is %s", p.Every,
			s.Interval)
	}
	for _, m := range s.Markets {
		if m.Quote != s.Markets[0].Quote {
			return nil, fmt.Errorf("%s and %s have different quote assets", s.Markets[0].Name, m.Name)
		}
	}
	fresh := func(market.Market) indicator.ROC { return indicator.NewROC(p.Candles) }
	return &rotation{rotationParams: p, markets: s.Markets, momentum: strategy.Each(s, fresh)}, nil
}

// OnCandles takes a group into the momenta, and chooses where it begins a new period.
func (r *rotation) OnCandles(d *strategy.Desk, g strategy.Group) {
	for _, c := range g.Candles {
		r.momentum.In(c.Market).Push(c.Close)
	}
	period := r.Every.Index(g.End)
	anew := r.begun && period != r.period
	r.period, r.begun = period, true
	if anew {
		d.Rebalance(strategy.Portfolio{Weights: r.weights(d), Band: r.Band})
	}
}

// weights are those of all members of the universe, the best first, and of what is held beside
// them.
func (r *rotation) weights(d *strategy.Desk) []strategy.Weight {
	ranked, left := []*market.Market{}, []*market.Market{}
	for _, m := range r.markets {
		if in := d.In(m.ID); in.Member() {
			ranked = append(ranked, m)
		} else if in.Held() > 0 {
			left = append(left, m)
		}
	}
	slices.SortStableFunc(ranked, func(a, b *market.Market) int { return cmp.Compare(r.rise(b), r.rise(a)) })
	weights := make([]strategy.Weight, 0, len(ranked)+len(left))
	for place, m := range append(ranked, left...) {
		weights = append(weights, strategy.Weight{Market: m.ID})
		if place < min(r.Top, len(ranked)) && r.rise(m) > 0 {
			weights[place].Share = r.Share / market.Rate(r.Top)
		}
	}
	return weights
}

// rise is a market's momentum, 0 before it has one.
func (r *rotation) rise(m *market.Market) float64 {
	momentum := r.momentum.In(m.ID)
	if !momentum.Ready() {
		return 0
	}
	return momentum.Value()
}
