package backtest

import (
	"io"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Relations between two runs: no value is expected, one run is held against another. Strategies,
// markets and rules are those of TestRandomRunsGiveWhatTheyGaveBefore, by seed.

// heard are the fills of a run.
type heard struct{ fills []market.Fill }

func (h *heard) Approved(state.Terms, *market.Command, []state.Figure) {}
func (h *heard) Filled(_ *state.Order, f *market.Fill)                 { h.fills = append(h.fills, *f) }
func (h *heard) Closed(*state.Order)                                   {}
func (h *heard) Ended(*state.Account)                                  {}

// relation runs the plan of a seed as it is, and changed, and compares fills and figures. undo
// takes the change back from a fill.
func relation(t *testing.T, seed uint64, change func(p *Plan), undo func(f *market.Fill)) {
	run := func(change func(p *Plan)) ([]market.Fill, Performance) {
		p := (&transcript{to: io.Discard}).plan(t, seed)
		for i := range p.Strategies {
			if values := p.Strategies[i].Values; values["every_candles"] != nil {
				values["every_candles"] = int64(24) // dca counts from 1970 on, and 24 divides 26 weeks of minutes
			}
		}
		if change != nil {
			change(p)
		}
		h := &heard{}
		result, err := Run(t.Context(), p, Options{Observer: h})
		require.NoError(t, err, "seed %d", seed)
		return h.fills, result.Performance
	}
	fills, figures := run(nil)
	others, changed := run(change)
	for i := range others {
		if undo != nil {
			undo(&others[i])
		}
	}
	require.Equal(t, fills, others, "seed %d", seed)
	require.Equal(t, figures.Final, changed.Final, "seed %d", seed)
	require.Equal(t, figures.Fees, changed.Fees, "seed %d", seed)
}

// seeds draws the numbers of random runs.
func seeds(t *testing.T, check func(seed uint64)) {
	rapid.Check(t, func(r *rapid.T) { check(rapid.Uint64Range(100, 1<<40).Draw(r, "seed")) })
}

// M9: names of strategies and markets decide nothing.
func TestNamesChangeNoFill(t *testing.T) {
	seeds(t, func(seed uint64) {
		relation(t, seed, func(p *Plan) {
			for i := range p.Strategies {
				p.Strategies[i].Name = "z" + string(rune('z'-i))
			}
		}, nil)
	})
}

// M10: all times 26 weeks later: the same fills, 26 weeks later.
func TestLaterTimesChangeNoFill(t *testing.T) {
	const later = 26 * 7 * dayLength
	seeds(t, func(seed uint64) {
		relation(t, seed, func(p *Plan) {
			open := p.Open
			p.Open = func(f Feed, from, to market.Time) (Source, error) {
				source, err := open(f, from, to)
				return &shifted{source, later}, err
			}
		}, func(f *market.Fill) { f.Time -= later })
	})
}

// shifted is a source whose candles come later.
type shifted struct {
	Source
	by market.Time
}

func (s *shifted) Next() ([]market.Candle, error) {
	batch, err := s.Source.Next()
	list := slices.Clone(batch)
	for i := range list {
		list[i].Start += s.by
	}
	return list, err
}

// buyer buys a fixed amount every sixty candles with exits, and closes fifty candles later: its
// entries do not depend on its exits.
type buyer struct {
	strategy.Base
	n     int
	exits func(close market.Price) []strategy.Option
}

func (b *buyer) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	switch b.n++; {
	case b.n%60 == 1:
		_, _ = m.Buy(strategy.Amount(1_000_000), b.exits(c.Close)...)
	case b.n%60 == 51 && m.Held() > 0:
		_ = m.Close()
	}
}

// buying is a run of a buyer over a made-up market without gaps.
func buying(t *testing.T, seed uint64, exits func(close market.Price) []strategy.Option) *Plan {
	p, candles := planOver(t, 1, 1_000_000_00, strategy.Define("buyer", "buys in turn",
		func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &buyer{exits: exits}, nil }), nil)
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
			p := buying(t, seed, exits)
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
			p := buying(t, seed, exits)
			if p.Venue.HalfSpread = rate; slips {
				p.Venue.Slippage = rate
			}
			final := mustRun(t, p).Performance.Final.Units
			require.LessOrEqual(r, final, last, "rate %d", rate)
			last = final
		}
	})
}
