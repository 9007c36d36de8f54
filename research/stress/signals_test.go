package stress

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// advised is a world that follows states from outside, one every thirty hours.
func advised(hours int) (world, func() *backtest.Plan) {
	w := world{kinds: []strategy.Definition{shipped.Follow}, hours: hours,
		values: map[string]any{"source": "model", "size": "50% equity"}}
	return w, func() *backtest.Plan {
		p := w.plan()
		for i := range hours / 30 {
			known := made()[i*30].Start.Add(7 * time.Minute)
			p.Signals = append(p.Signals, market.Signal{Source: "model", Number: int64(i + 1), Known: known,
				Time: known, Until: known.Add(100 * time.Hour), Stance: market.Stance(1 + i%2)})
		}
		return p
	}
}

// Signals that are lost, doubled, late and out of order are rows of their own, the same ones on any
// number of workers; a delay of nothing is the plain run.
func TestSignalsAreStressed(t *testing.T) {
	w, plan := advised(2400)
	job := w.job()
	job.Worker = func() (Make, error) {
		p := plan()
		return func() (*backtest.Plan, error) { return p, nil }, nil
	}
	job.Delays = []market.Duration{0, 10 * time.Minute, 101 * time.Hour}
	job.Measured = []market.Duration{time.Second, 20 * time.Hour}
	o, err := Run(t.Context(), job)
	require.NoError(t, err)
	require.Len(t, o.Again, int(kinds))
	labels := func(k kind) (list []string) {
		for _, l := range o.Again[k].Levels {
			list = append(list, l.Label)
		}
		return list
	}
	require.Equal(t, []string{"1 %", "5 %", "20 %"}, labels(lost))
	require.Equal(t, []string{"0s", "10m0s", "101h0m0s", "as measured"}, labels(late))
	require.True(t, same(&o.Plain, &o.Again[late].Levels[0].Runs[0]), "no delay")
	require.False(t, same(&o.Plain, &o.Again[late].Levels[1].Runs[0]))
	require.Zero(t, o.Again[late].Levels[2].Runs[0].Trips, "too old at their arrival")
	require.True(t, same(&o.Plain, &o.Again[doubled].Levels[2].Runs[0]), "a state may come twice")
	for _, k := range []kind{lost, disordered} {
		require.Len(t, o.Again[k].Levels[2].Runs, draws)
		require.False(t, same(&o.Plain, &o.Again[k].Levels[2].Median))
	}
	job.Workers = 1
	again, err := Run(t.Context(), job)
	require.NoError(t, err)
	texts := [2][]byte{}
	for i, one := range []*Result{o, again} {
		texts[i], err = json.Marshal(one)
		require.NoError(t, err)
	}
	require.JSONEq(t, string(texts[0]), string(texts[1]))
}

// The changes of signals, by what arrives.
func TestTheChangesOfSignals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, plan := advised(60 * rapid.IntRange(1, 50).Draw(t, "days"))
		p := plan()
		for i := range p.Signals {
			p.Signals[i].Market = market.ID(rapid.IntRange(0, 1).Draw(t, "market"))
		}
		from := p.Signals[rapid.IntRange(0, len(p.Signals)-1).Draw(t, "from")].Known - 1
		s := &stressed{job: Job{Seed: rapid.Uint64().Draw(t, "seed")}, plan: p, signals: signalsOf(p, from)}
		inside := len(s.signals)
		before := slices.Clone(p.Signals)
		for _, make := range []func() ([]level, error){s.lostLevels, s.doubledLevels, s.disorderedLevels} {
			levels, err := make()
			require.NoError(t, err)
			level := rapid.IntRange(0, 2).Draw(t, "level")
			n := (inside*parts[level].percent + 99) / 100
			own := *p
			number := rapid.IntRange(0, 4).Draw(t, "number")
			levels[level].apply(&own, number)
			require.Equal(t, before, p.Signals)
			have := own.Signals
			require.True(t, slices.IsSortedFunc(have, func(a, b market.Signal) int { return int(a.Due() - b.Due()) }))
			times := map[int64]int{}
			moved := 0
			for i := range have {
				times[have[i].Number]++
				if have[i].Arrived != 0 {
					moved++
					require.Greater(t, have[i].Known, from)
				}
			}
			switch len(have) - len(before) {
			case -n:
				require.Len(t, times, len(before)-n)
			case n:
				require.Len(t, times, len(before))
				require.Equal(t, n, moved)
			case 0:
				require.Len(t, times, len(before))
				want, drawn := 0, s.draw(len(before), n, number)
				for i := range before {
					next := slices.IndexFunc(before[i:], func(o market.Signal) bool {
						return o.Market == before[i].Market && !drawn[o.Number-1]
					})
					if drawn[i] && next > 0 {
						want++
					}
				}
				require.Equal(t, want, moved)
				for i := range have {
					if have[i].Arrived != 0 {
						before := slices.IndexFunc(have, func(o market.Signal) bool {
							return o.Number > have[i].Number && o.Market == have[i].Market && o.Arrived == 0
						})
						require.Less(t, before, i, "it comes behind a later one")
						require.GreaterOrEqual(t, before, 0)
					}
				}
			default:
				t.Fatalf("%d signals of %d", len(have), len(before))
			}
		}
	})
}
