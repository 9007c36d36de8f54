package backtest

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/strategy"
)

// buyer buys a fixed amount every sixty candles with exits, and closes fifty candles later: its
// entries do not depend on its exits.
type buyer struct {
	strategy.Base
	n      int
	amount market.Qty
	exits  func(close market.Price) []strategy.Option
}

func (b *buyer) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	switch b.n++; {
	case b.n%60 == 1:
		_, _ = m.Buy(strategy.Amount(b.amount), b.exits(c.Close)...)
	case b.n%60 == 51 && m.Held() > 0:
		_ = m.Close()
	}
}

// buying is a run of a buyer over a made-up market without gaps.
func buying(t *testing.T, seed uint64, amount market.Qty, exits func(close market.Price) []strategy.Option) *Plan {
	p, candles := planOver(t, 1, 1_000_000_00, strategy.Define("buyer", "buys in turn",
		func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) {
			return &buyer{amount: amount, exits: exits}, nil
		}), nil)
	g, err := synthetic.New(synthetic.Config{Seed: seed, Market: p.Strategies[0].Markets[0],
		Interval: market.Interval1m, Start: candles[0].Start, First: 100_000_00, Volume: 5_0000, DailyVolatility: 0.15})
	require.NoError(t, err)
	list := make([]market.Candle, 1500)
	for i := range list {
		if g.Next(&list[i]); i > 0 { // a price that jumps between two candles has no path
			list[i].Open = list[i-1].Close
			list[i].High, list[i].Low = max(list[i].High, list[i].Open), min(list[i].Low, list[i].Open)
		}
	}
	p.Open = func(Feed, market.Time, market.Time) (Source, error) { return &memory{list}, nil }
	return p
}

// M23: the painful path is the worst and the kind one the best, with exits that stand and that
// follow prices.
func TestEachPathLiesBetweenTheTwoEnds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		width := market.Rate(rapid.Int64Range(50_000, 1_000_000).Draw(r, "width"))
		exits := rapid.SampledFrom([]func(market.Price) []strategy.Option{
			func(c market.Price) []strategy.Option {
				return []strategy.Option{strategy.StopAt(c - exchange.Share(c, width)),
					strategy.TargetAt(c + exchange.Share(c, width))}
			},
			func(market.Price) []strategy.Option {
				return []strategy.Option{strategy.Trail(width), strategy.ByPrices()}
			},
			func(c market.Price) []strategy.Option {
				return []strategy.Option{strategy.Trail(width), strategy.ByPrices(),
					strategy.TargetAt(c + exchange.Share(c, 2*width))}
			},
			func(market.Price) []strategy.Option { return []strategy.Option{strategy.Trail(width)} },
		}).Draw(r, "exits")
		finals := map[sim.Path]market.Money{}
		for path := sim.Adaptive; path <= sim.Optimistic; path++ {
			p := buying(t, seed, 1_000_000, exits)
			p.Venue.Path = path
			finals[path] = mustRun(t, p).Performance.Final.Units
		}
		for path, final := range finals {
			require.LessOrEqual(r, finals[sim.Pessimistic], final, path.String())
			require.GreaterOrEqual(r, finals[sim.Optimistic], final, path.String())
		}
	})
}

// M24: more spread, slippage or fee never earns more.
func TestMoreCostsNeverEarnMore(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		width := market.Rate(rapid.Int64Range(500_000, 2_000_000).Draw(r, "width"))
		exits := func(c market.Price) []strategy.Option {
			return []strategy.Option{strategy.StopAt(c - exchange.Share(c, width)),
				strategy.TargetAt(c + exchange.Share(c, width))}
		}
		slips := rapid.Bool().Draw(r, "slippage")
		last := market.Money(math.MaxInt64)
		for _, rate := range []market.Rate{0, 1, 100, 1_000, 10_000, 100_000} {
			p := buying(t, seed, 1_000_000, exits)
			if p.Venue.HalfSpread = rate; slips {
				p.Venue.Slippage = rate
			}
			final := mustRun(t, p).Performance.Final.Units
			require.LessOrEqual(r, final, last, "rate %d", rate)
			last = final
		}
	})
}

// M13: so many times the amount gains so many times as much, within a cent a fill.
func TestTenTimesTheAmountGainsTenTimesAsMuch(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		seed, times := rapid.Uint64().Draw(r, "seed"), rapid.Int64Range(2, 50).Draw(r, "times")
		width := market.Rate(rapid.Int64Range(50_000, 1_000_000).Draw(r, "width"))
		exits := func(c market.Price) []strategy.Option {
			return []strategy.Option{strategy.StopAt(c - exchange.Share(c, width)), strategy.Trail(2 * width)}
		}
		one := mustRun(t, buying(t, seed, 1_000_000, exits))
		all := mustRun(t, buying(t, seed, market.Qty(times)*1_000_000, exits))
		gain := func(of *Result) float64 { return float64(of.Performance.Final.Units - of.Performance.Start.Units) }
		require.Equal(r, one.Orders.Fills, all.Orders.Fills)
		require.InDelta(r, gain(one)*float64(times), gain(all), float64(times*one.Orders.Fills))
	})
}

// M22: each fill lies in a candle of its market: in the time and, but for spread and slippage, in
// the price: an order may rest between the price and the other side. Between two candles a limit
// that the price jumps over fills at its own price; so does the rest of an order that took all the
// volume that it may have.
func TestFillsOfARunLieInTheirCandles(t *testing.T) {
	inWorlds(t, func(seed uint64) {
		p := world(t, seed)
		p.Venue.VolumeShare = 0
		h, _ := played(t, seed, p)
		cost := exchange.Spread{Half: p.Venue.HalfSpread, Slippage: p.Venue.Slippage}
		for i := range h.fills {
			f := &h.fills[i]
			m, low, high := p.Catalog.Market(f.Market), market.Price(math.MaxInt64), market.Price(0)
			for _, feed := range p.Feeds {
				if feed.Market != m {
					continue
				}
				source, err := p.Open(feed, 0, 0)
				require.NoError(t, err)
				list := source.(*memory).candles
				next, opens := slices.BinarySearchFunc(list, f.Time, func(c market.Candle, at market.Time) int {
					return cmp.Compare(c.Start, at)
				})
				for k, c := range list[max(0, next-1):min(len(list), next+1)] {
					if c.Start <= f.Time && f.Time <= c.End() || k == 0 && opens {
						low, high = min(low, c.Low), max(high, c.High)
					}
				}
			}
			low, high = cost.Paid(market.Sell, low, m.TickSize), cost.Paid(market.Buy, high, m.TickSize)
			require.True(t, low <= f.Price && f.Price <= high, "seed %d: %+v, %d to %d", seed, *f, low, high)
		}
	})
}
