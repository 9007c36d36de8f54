//go:build !raced

package placebo_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/placebo"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/strategy"
)

// hearing is a kind that hears signals; it never runs.
var hearing = strategy.Define("hearing", "for a test",
	func(struct{}) strategy.Needs { return strategy.Needs{Signals: []string{"model"}} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return nil, nil })

// signalled is the plan of a market with a state from outside: long or flat, each for a week on
// average. With a chance of right it is the state that the next five days deserve.
func signalled(seed uint64, right float64) *backtest.Plan {
	k := kind{days: 730, drift: 1, law: "t3"}
	p := k.plan(seed)
	p.Strategies = []backtest.StrategyPlan{{Name: "s", Kind: hearing, Interval: market.Interval1d}}
	closes, r := k.closes(seed), rand.New(rand.NewPCG(seed, 79))
	stance := market.StanceFlat
	for day := range len(closes) - 5 {
		knows := r.Float64() < right
		switch {
		case knows && closes[day+5] > closes[day]:
			stance = market.StanceLong
		case knows:
			stance = market.StanceFlat
		case r.Float64() < 1.0/7:
			stance = market.Stance(1 + r.IntN(2))
		default:
			continue
		}
		known := market.Interval1d.StartOf(int64(day + 1))
		p.Signals = append(p.Signals, market.Signal{Source: "model", Number: int64(day), Known: known, Time: known,
			Stance: stance})
	}
	return p
}

// stanceTheta is the annual Sharpe ratio, in excess of a hold, of a position that follows the
// signals.
func stanceTheta(t *testing.T, p *backtest.Plan) float64 {
	source, err := p.Open(p.Feeds[0], 0, 0)
	require.NoError(t, err)
	candles, err := source.Next()
	require.NoError(t, err)
	long, next, held := 0.0, 0, 0.0
	var rows, moves []float64
	for i := range candles {
		for next < len(p.Signals) && p.Signals[next].Known <= candles[i].Start {
			if long = 0; p.Signals[next].Stance == market.StanceLong {
				long = 1
			}
			next++
		}
		move := float64(candles[i].Close)/float64(candles[i].Open) - 1
		rows, moves, held = append(rows, long*move), append(moves, move), held+long
	}
	for i := range rows {
		rows[i] -= held / float64(len(rows)) * moves[i]
	}
	return stats.Annual(stats.Sharpe(rows))
}

// turnedP is the p-value of a plan whose signals are turned.
func turnedP(t *testing.T, p *backtest.Plan, seed uint64) float64 {
	d, err := placebo.NewData(placebo.Rules{Seed: seed, Signals: true})
	require.NoError(t, err)
	require.NoError(t, d.Note(p))
	require.NoError(t, d.Read(0))
	thetas := make([]float64, 99)
	var s *placebo.Surrogate
	for i := range thetas {
		s = d.Surrogate(i+1, s)
		altered := *p
		s.Alter(&altered)
		thetas[i] = stanceTheta(t, &altered)
	}
	return stats.PValue(stanceTheta(t, p), thetas)
}

// Where the signals' times say nothing, p is uniform; where they know a part of the future, it is
// small.
func TestTheSizeAndPowerOfTurnedSignals(t *testing.T) {
	const number = 150
	values := func(right float64) []float64 {
		all := make([]float64, number)
		each(number, func(_ *trader, n int) { all[n] = turnedP(t, signalled(uint64(n), right), uint64(n)) })
		return all
	}
	luck, known := values(0), values(0.2)
	apart := distance(luck, 100)
	t.Logf("%d markets of 730 days: p ≤ 0.05 in %.1f %% without an edge (KS %.3f), in %.1f %% with one", number,
		share(luck, 0.05), apart, share(known, 0.05))
	low, high := limits(number)
	require.GreaterOrEqual(t, share(luck, 0.05), low)
	require.LessOrEqual(t, share(luck, 0.05), high)
	require.LessOrEqual(t, apart, 1.63/math.Sqrt(number), "KS at 1 %%")
	require.Greater(t, share(known, 0.05), 80.0)
}

// Signals are turned only where some are heard.
func TestTurnedSignalsNeedSignals(t *testing.T) {
	for _, alter := range []func(*backtest.Plan){
		func(p *backtest.Plan) { p.Strategies = nil }, func(p *backtest.Plan) { p.Signals = nil }} {
		p := signalled(1, 0)
		alter(p)
		d, err := placebo.NewData(placebo.Rules{Signals: true})
		require.NoError(t, err)
		require.NoError(t, d.Note(p))
		require.ErrorContains(t, d.Read(0), "no strategy hears signals")
	}
}
