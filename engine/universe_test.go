package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Members change at their times; a buy beside them is refused in words, and so is a weight; what is
// held of a market that has left is sold.
func TestOnlyMembersOfAUniverseAreBought(t *testing.T) {
	const outside = "refused: universe: the strategy does not trade the market now, and can only sell there"
	s := &gatherer{}
	b := newBench(t, setup{markets: 3, slots: []engine.StrategyConfig{{Strategy: s, Markets: []market.ID{1, 2, 3},
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

// SetMembers takes effect at its time. The members before it stay until then, and a later call
// replaces those that have not begun.
func TestMembersAreSetForALaterTime(t *testing.T) {
	s := &gatherer{}
	b := newBench(t, setup{markets: 3, slots: []engine.StrategyConfig{{Strategy: s, Markets: []market.ID{1, 2, 3},
		Universe: []strategy.Membership{{Markets: []market.ID{1}}}}}})
	var seen [][]market.ID
	s.act = func(d *strategy.Desk, _ strategy.Group) { seen = append(seen, append([]market.ID{}, d.Universe()...)) }
	for i := range 5 {
		switch i {
		case 1:
			b.engine.SetMembers(1, strategy.Membership{From: start + 4*minute, Markets: []market.ID{2}})
			b.engine.SetMembers(1, strategy.Membership{From: start + 3*minute, Markets: []market.ID{3, 2}})
		case 4:
			b.engine.SetMembers(1, strategy.Membership{From: start, Markets: []market.ID{1, 3}}) // late
		}
		b.group(candleOf(1, 100, 100, 100, 100), candleOf(2, 100, 100, 100, 100), candleOf(3, 100, 100, 100, 100))
	}
	require.Equal(t, [][]market.ID{{1}, {1}, {3, 2}, {3, 2}, {1, 3}}, seen)
}

// A tactic may have neither base nor an order for a moment: a restart needs its market all the
// same.
func TestTheMarketOfATacticIsNeededByARestart(t *testing.T) {
	b := one(t, &script{candle: once(func(d *strategy.Desk) {
		_, err := d.In(1).Buy(strategy.Amount(btc), strategy.MakerFirst(2*time.Minute))
		require.NoError(t, err)
	})})
	b.group(ample(100))
	b.group(ample(99)) // the order would take
	require.Zero(t, b.position())
	require.Zero(t, b.account.OpenBy(1))
	require.True(t, b.engine.Working(1, 1))
	markets, err := engine.SavedMarkets(saveAll(t, b.engine))
	require.NoError(t, err)
	require.Len(t, markets, 1)
	for _, list := range markets {
		require.Equal(t, []string{b.catalog.Market(1).Name}, list)
	}
}

func TestWithoutAUniverseAllMarketsAreMembers(t *testing.T) {
	s := &gatherer{act: func(d *strategy.Desk, _ strategy.Group) {
		require.Equal(t, []market.ID{1, 2, 3}, d.Universe())
		require.True(t, d.In(3).Member())
	}}
	threeMarkets(t, s, 0).group(candleOf(1, 100, 100, 100, 100))
}
