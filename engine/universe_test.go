package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Members change at their times; a buy beside them is refused in words, and so is a weight; what is
// held of a market that has left is sold.
func TestOnlyMembersOfAUniverseAreBought(t *testing.T) {
	const outside = "refused: universe: the market is no member of the universe now, and can only be sold"
	s := &gatherer{}
	b := newBench(t, setup{markets: 3, slots: []engine.Slot{{Strategy: s, Markets: []market.ID{1, 2, 3},
		Universe: []strategy.Membership{{From: start, Markets: []market.ID{2, 1}},
			{From: start + 3*minute, Markets: []market.ID{3, 2}}}}}})
	var seen [][]market.ID
	s.act = func(d *strategy.Desk, g strategy.Group) {
		members := append([]market.ID{}, d.Universe()...)
		seen = append(seen, members)
		for m := market.ID(1); m <= 3; m++ {
			require.Equal(t, members[0] == m || members[1] == m, d.In(m).Member(), "%d", m)
		}
		require.NotContains(t, g.Missing, market.ID(3))
		if len(seen) == 1 {
			_, err := d.In(1).Buy(strategy.Amount(1_0000))
			require.NoError(t, err)
			_, err = d.In(3).Buy(strategy.Amount(1_0000))
			require.EqualError(t, err, outside)
			err = d.Rebalance(strategy.Portfolio{Weights: []strategy.Weight{{Market: 3, Share: market.Percent}}})
			require.EqualError(t, err, "a weight of 1% for "+d.In(3).Market().Name+": "+outside)
		}
		if len(seen) == 4 {
			require.NotZero(t, d.In(1).Position().Amount)
			_, err := d.In(1).Sell(strategy.Amount(1_0000))
			require.NoError(t, err)
		}
	}
	for range 5 {
		b.group(candleOf(1, 100, 100, 100, 100), candleOf(2, 100, 100, 100, 100), candleOf(3, 100, 100, 100, 100))
	}
	require.Equal(t, [][]market.ID{{2, 1}, {2, 1}, {3, 2}, {3, 2}, {3, 2}}, seen)
	require.Zero(t, b.account.Position(1, 1).Amount)
	refused := b.engine.Refused(1)
	require.Len(t, refused, 1)
	require.Equal(t, "universe", refused[0].Reason)
	require.EqualValues(t, 2, refused[0].N)
}

func TestWithoutAUniverseAllMarketsAreMembers(t *testing.T) {
	s := &gatherer{act: func(d *strategy.Desk, _ strategy.Group) {
		require.Equal(t, []market.ID{1, 2, 3}, d.Universe())
		require.True(t, d.In(3).Member())
	}}
	threeMarkets(t, s, 0).group(candleOf(1, 100, 100, 100, 100))
}
