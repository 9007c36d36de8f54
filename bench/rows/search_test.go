package rows

import (
	"sort"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// averages is a random search over pairs of averages on the built-in market's 26,000 hours.
func (t *table) averages(sets int, dimensions ...string) research.Job {
	var dims []research.Dimension
	for _, text := range dimensions {
		d, err := research.ParseDimension(text)
		require.NoError(t.b, err)
		dims = append(dims, d)
	}
	space, err := research.NewSpace(dims...)
	require.NoError(t.b, err)
	sharpe, err := research.Objective("sharpe")
	require.NoError(t.b, err)
	units := bitcoin()
	units.ID = 1
	hours, err := synthetic.BTCEUR(units, 1)
	require.NoError(t.b, err)
	return research.Job{Space: space, Method: research.Random, Sets: sets, Seed: 1, Objective: sharpe,
		To: hours[len(hours)-1].End(), Worker: t.hourly(hours),
		Look: func(settings []research.Setting) (string, error) {
			_, err := shipped.SMACross.Resolve(valuesOf(settings))
			return "", err
		}}
}

// hourly makes plans of smacross over hours.
func (t *table) hourly(hours []market.Candle) func() (research.Make, error) {
	at := func(when market.Time) int {
		return sort.Search(len(hours), func(i int) bool { return hours[i].Start >= when })
	}
	return func() (research.Make, error) {
		base, _ := t.plan(1, million*100, shipped.SMACross)
		base.Feeds[0].Interval, base.Strategies[0].Interval = market.Interval1h, market.Interval1h
		base.Open = func(_ backtest.Feed, from, to market.Time) (backtest.Source, error) {
			if to == 0 {
				to = hours[len(hours)-1].End()
			}
			return &memory{hours[at(from):at(to)]}, nil
		}
		return func(settings []research.Setting) (*backtest.Plan, error) {
			p := *base
			p.Strategies = []backtest.StrategyPlan{base.Strategies[0]}
			p.Strategies[0].Values = valuesOf(settings)
			return &p, nil
		}, nil
	}
}

func valuesOf(settings []research.Setting) map[string]any {
	values := map[string]any{}
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	return values
}
