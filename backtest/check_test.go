package backtest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/breakout"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/smacross"
)

func shippedPlan(t testing.TB, kind strategy.Definition, n int) *Plan {
	p, _ := planOver(t, n, 100_000_00, kind, nil)
	p.SyntheticBook = true
	p.Venue.HalfSpread = 10_000 // 1 bp
	return p
}

func TestEveryShippedStrategyTradesAndEndsInGoodOrder(t *testing.T) {
	for _, kind := range shipped.Definitions() {
		t.Run(kind.Name, func(t *testing.T) {
			result, err := Run(context.Background(), shippedPlan(t, kind, 20_000), Options{})
			require.NoError(t, err)
			require.Empty(t, result.Warnings)
			require.NotZero(t, result.Orders.Fills, "refusals: %v", result.Refusals)
		})
	}
}

// until ends a source at a time.
type until struct {
	Source
	to market.Time
}

func (c *until) Next() ([]market.Candle, error) {
	batch, err := c.Source.Next()
	for i := range batch {
		if c.to != 0 && batch[i].Start >= c.to {
			return batch[:i], err
		}
	}
	return batch, err
}

// faulty trades for a while and then breaks in the middle of a callback.
type faulty struct {
	strategy.Base
	candles int
}

func (f *faulty) OnCandle(d *strategy.Desk, c market.Candle) {
	f.candles++
	if f.candles%50 == 0 {
		_, _ = d.In(c.Market).Buy(strategy.Amount(1_000_000), strategy.At(c.Close*99/100))
	}
	if f.candles == 1020 {
		_, _ = d.In(c.Market).Buy(strategy.Amount(1_000_000))
		panic("broken")
	}
}

var broken = strategy.Define("broken", "panics", func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &faulty{}, nil })

func TestCandlesInOneGoGiveWhatCandlesOneByOneGive(t *testing.T) {
	candles := 20_000
	if testing.Short() {
		candles = 4000
	}
	for _, kind := range append([]strategy.Definition{broken}, shipped.Definitions()...) {
		t.Run(kind.Name, func(t *testing.T) {
			p := shippedPlan(t, kind, candles)
			fast, slow := jsonOf(t, p), ""
			p.OneByOne = true
			slow = jsonOf(t, p)
			require.JSONEq(t, slow, fast)
		})
	}
}

func TestTheSamePlanGivesTheSameBytes(t *testing.T) {
	for _, path := range []sim.Path{sim.Adaptive, sim.Pessimistic} {
		p := shippedPlan(t, breakout.Definition, 20_000)
		p.Venue.Path = path
		require.Equal(t, jsonOf(t, p), jsonOf(t, p))
	}
}

func jsonOf(t *testing.T, p *Plan) string {
	result, err := Run(context.Background(), p, Options{Envelope: true})
	require.NoError(t, err)
	text, err := json.MarshalIndent(result, "", " ")
	require.NoError(t, err)
	return string(text)
}

func TestWarmupOfTheCrossIsWhatItDeclares(t *testing.T) {
	p, candles := planOver(t, 6_000, 1_000_000_00, smacross.Definition, nil)
	p.Open = func(_ Feed, from, to market.Time) (Source, error) {
		for len(candles) > 0 && candles[0].Start < from {
			candles = candles[1:]
		}
		return &until{&memory{candles}, to}, nil
	}
	all := candles
	open := p.Open
	p.Open = func(f Feed, from, to market.Time) (Source, error) {
		candles = all
		return open(f, from, to)
	}
	report, err := CheckWarmup(context.Background(), p)
	require.NoError(t, err)
	require.Equal(t, 51, report.Declared)
	require.Equal(t, 51, report.Enough, "%+v", report.Tried)
}

// The other paths of the envelope are not run where no candle was walked past its open: then they
// could not end otherwise.
func TestTheEnvelopeIsWhatRunsOnEachPathEndWith(t *testing.T) {
	walked := map[bool]int{}
	for _, kind := range shipped.Definitions() {
		p := shippedPlan(t, kind, 5_000)
		d, err := drive(t.Context(), p, runOptions{})
		require.NoError(t, err)
		walked[d.venue.PathUsed()]++
		result, err := Run(t.Context(), p, Options{Envelope: true})
		require.NoError(t, err)
		require.Len(t, result.Envelope, 3)
		for _, outcome := range result.Envelope {
			p.Venue.Path, err = sim.ParsePath(outcome.Path)
			require.NoError(t, err)
			require.Equal(t, mustRun(t, p).Performance.Final, outcome.Final, "%s, %s", kind.Name, outcome.Path)
		}
	}
	require.Positive(t, walked[false])
	require.Positive(t, walked[true])
}
