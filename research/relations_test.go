package research_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
)

// Relations between two searches: no value is expected, one is held against another.

// figuresOf are the figures of all sets of a job, by the settings that have an effect, and the
// order of the sets.
func figuresOf(t *testing.T, job research.Job) (figures map[string]research.Figures, ranks []string) {
	found, err := research.Search(t.Context(), job)
	require.NoError(t, err)
	figures = map[string]research.Figures{}
	for i := range found.Tries {
		try := found.Tries[i]
		list := slices.DeleteFunc(job.Space.Settings(try.Set), func(s research.Setting) bool { return s.Key == alike })
		slices.SortFunc(list, func(a, b research.Setting) int { return strings.Compare(a.Key, b.Key) })
		name := research.SettingsText(list)
		if have, is := figures[name]; is {
			require.Equal(t, have, try.Figures, "sets that differ in what has no effect")
		} else {
			figures[name], ranks = try.Figures, append(ranks, name)
		}
	}
	require.NoError(t, found.Close())
	return figures, ranks
}

// alike is a dimension without effect.
const alike = "alike"

// without lets a job make its plans without that dimension.
func without(job research.Job) research.Job {
	drop := func(list []research.Setting) []research.Setting {
		return slices.DeleteFunc(slices.Clone(list), func(s research.Setting) bool { return s.Key == alike })
	}
	look, worker := job.Look, job.Worker
	job.Look = func(settings []research.Setting) (string, error) { return look(drop(settings)) }
	job.Worker = func() (research.Make, error) {
		make, err := worker()
		return func(settings []research.Setting) (*backtest.Plan, error) { return make(drop(settings)) }, err
	}
	return job
}

// M25: neither the order of the dimensions, nor that of their values, nor a dimension without
// effect changes a figure of a set.
func TestTheOrderOfASearchChangesNoFigure(t *testing.T) {
	job := jobOf(t, 500, "fast=2,5,8,12", "slow=15,25,40")
	want, ranks := figuresOf(t, job)
	for _, vary := range [][]string{{"slow=15,25,40", "fast=2,5,8,12"}, {"fast=12,2,8,5", "slow=40,15,25"},
		{"alike=a,b,c", "fast=2,5,8,12", "slow=15,25,40"}, {"slow=25,15,40", "alike=x", "fast=8,2,5,12"}} {
		have, order := figuresOf(t, without(jobOf(t, 500, vary...)))
		require.Equal(t, want, have, "%s", vary)
		if vary[0] == "alike=a,b,c" {
			require.Equal(t, ranks, order, "%s", vary)
		}
	}
}

// M26: an objective a·x + b with a > 0 ranks as x does, and its negative the other way round.
func TestALinearObjectiveRanksAlike(t *testing.T) {
	job := jobOf(t, 500, "fast=2:12:2", "slow=15:40:5")
	for _, objective := range []string{"sharpe", "return", "return - 2 * drawdown", "trips"} {
		search := func(formula string) map[string]float64 {
			var err error
			job.Objective, err = research.Objective(formula)
			require.NoError(t, err)
			found, err := research.Search(t.Context(), job)
			require.NoError(t, err)
			values := map[string]float64{}
			for i := range found.Tries {
				values[research.SettingsText(job.Space.Settings(found.Tries[i].Set))] = found.Tries[i].Value
				if i > 0 {
					require.GreaterOrEqual(t, found.Tries[i-1].Value, found.Tries[i].Value, formula)
				}
			}
			require.NoError(t, found.Close())
			return values
		}
		plain := search(objective)
		for _, c := range []struct {
			formula string
			a, b    float64
		}{{"3 * (" + objective + ") + 7", 3, 7}, {"-(" + objective + ")", -1, 0}} {
			for set, value := range search(c.formula) {
				require.InDelta(t, c.a*plain[set]+c.b, value, 1e-9, "%s, %s", c.formula, set)
			}
		}
	}
}

// M25: the figures of any sets are those of any other search that has them.
func TestASetHasTheSameFiguresInAnySearch(t *testing.T) {
	all, _ := figuresOf(t, jobOf(t, 500, "fast=2:12:2", "slow=15:40:5"))
	for seed := range uint64(3) {
		job := jobOf(t, 500, "fast=2:12:2", "slow=15:40:5")
		job.Method, job.Sets, job.Seed = research.Random, 9, rand.New(rand.NewPCG(seed, 1)).Uint64()
		some, _ := figuresOf(t, job)
		require.NotEmpty(t, some)
		for set := range maps.Keys(some) {
			require.Equal(t, all[set], some[set], "seed %d, %s", seed, set)
		}
	}
}
