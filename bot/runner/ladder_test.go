package runner

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// The tests of this file prove the ladder of bot gap: live runs with planted causes. Many seeds,
// and all pairs of causes:
//
//	go test ./bot/runner -run Planted -live-seeds 5 -v -timeout 2h

// compared grows a run and compares it with its backtest. Whatever is planted, the first rung is
// that backtest, the last one the live books, and steps and episodes add up to the difference.
func (d *bed) compared(t *testing.T, plants ...*plant) *gap.Comparison {
	g := d.grow(t, plants...)
	store, err := candles.Open(g.db)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	r, err := gap.Run(t.Context(), gap.Options{Dir: g.folder, Kinds: shipped.Definitions(), Candles: store})
	require.NoError(t, err)
	for _, out := range r.Runs {
		require.NoError(t, out.Err)
	}
	require.Equal(t, g.tested.equity-20_000_00, r.Account.Profits[0].Units, "S0 is the backtest")
	require.Zero(t, r.Account.Unexplained.Units)
	steps, episodes := market.Money(0), r.Account.Outside.Units
	for i := range r.Account.Terms {
		steps += r.Account.Terms[i].Step.Units
	}
	for i := range r.Episodes {
		episodes += r.Episodes[i].Gap.Units
	}
	require.Equal(t, r.Account.Gap.Units, steps)
	require.Equal(t, r.Account.Gap.Units, episodes)
	const dust = 3_50 // of each market, below its least order
	require.LessOrEqual(t, max(r.Account.Outside.Units, -r.Account.Outside.Units), market.Money(len(r.Episodes)+2*dust),
		"a cent an episode, for rounding, and dust")
	if len(plants) == 0 {
		require.Equal(t, g.tested, g.live, "nothing is planted")
		require.Greater(t, g.live.fills, 15)
		require.Empty(t, r.Episodes)
		for _, one := range r.Account.Terms {
			require.Zero(t, one.Step.Units, one.Fact)
		}
	}
	return r
}

// noise is how far the terms of a run without a plant reach, over all orders of the facts.
func noise(twin *gap.Comparison) (most market.Money) {
	for i := range twin.Account.Terms {
		one := &twin.Account.Terms[i]
		most = max(most, -one.Least.Units, one.Most.Units)
	}
	return most
}

func away(a, b market.Money) market.Money { return max(a-b, b-a) }

// hits counts how often something is so. With one seed it has to be so every time, with many seeds
// 9 times of 10.
type hits struct{ all, hit int }

func (h *hits) note(t *testing.T, hit bool, format string, args ...any) {
	h.all++
	if hit {
		h.hit++
		return
	}
	t.Logf("outside: "+format, args...)
}

func (h *hits) check(t *testing.T) {
	t.Logf("%d of %d", h.hit, h.all)
	if *liveSeeds == 1 {
		require.Equal(t, h.all, h.hit)
	}
	require.GreaterOrEqual(t, h.hit*10, h.all*9)
}

// The step of its fact carries what a planted cause changes, within the noise of the twin, and the
// first order that differs names it.
func TestEachPlantedCauseLandsInItsTerm(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	var terms, roots hits
	for seed := range uint64(*liveSeeds) {
		d := &bed{seed: 2 + seed, minutes: 60}
		twin := d.compared(t)
		for _, one := range plants {
			r := d.compared(t, one)
			gap, own := r.Account.Gap.Units, r.Account.Terms[one.fact].Step.Units
			terms.note(t, away(gap, own) <= noise(twin), "seed %d, %s: gap %d, %s %d, noise %d", d.seed, one.name, gap,
				one.fact, own, noise(twin))
			if len(r.Episodes) > 0 {
				root := &r.Episodes[0].Root
				roots.note(t, root.Fact == one.fact.String(), "seed %d, %s: first cause %+v", d.seed, one.name, root)
			}
		}
	}
	defer terms.check(t)
	roots.check(t)
}

// What each of two causes changes is known from runs with one, both and none, in the order of the
// ladder. It lies within the range of its fact's term.
func TestTwoPlantedCausesLieWithinTheirRanges(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	var ranges hits
	for seed := range uint64(*liveSeeds) {
		d := &bed{seed: 2 + seed, minutes: 60}
		twin := d.compared(t)
		alone := make([]*gap.Comparison, len(plants))
		for i, one := range plants {
			if *liveSeeds > 1 || i%2 == 0 {
				alone[i] = d.compared(t, one)
			}
		}
		for i, first := range plants {
			for j, second := range plants {
				if alone[i] != nil && alone[j] != nil && first.fact < second.fact {
					d.mixed(t, &ranges, twin, alone[i], first, second)
				}
			}
		}
	}
	ranges.check(t)
}

// mixed compares a run with two causes with those that have none and the first one.
func (d *bed) mixed(t *testing.T, ranges *hits, twin, one *gap.Comparison, first, second *plant) {
	both := d.compared(t, first, second)
	live := func(r *gap.Comparison) market.Money { return r.Account.Live.Units }
	for fact, truth := range map[gap.Fact]market.Money{first.fact: live(one) - live(twin),
		second.fact: live(both) - live(one)} {
		term := &both.Account.Terms[fact]
		least, most := term.Least.Units-noise(twin), term.Most.Units+noise(twin)
		ranges.note(t, truth >= least && truth <= most, "seed %d, %s and %s: %s %d, range %d … %d", d.seed, first.name,
			second.name, fact, truth, least, most)
	}
}
