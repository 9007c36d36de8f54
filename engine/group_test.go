package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// gatherer notes its candles and its groups.
type gatherer struct {
	strategy.Base
	calls journal
	act   func(d *strategy.Desk, g strategy.Group)
}

func (s *gatherer) OnCandle(_ *strategy.Desk, c market.Candle) {
	s.calls.add("candle %d of minute %d", c.Market, (c.Start-start)/minute)
}

func (s *gatherer) OnCandles(d *strategy.Desk, g strategy.Group) {
	text := fmt.Sprintf("group of minute %d:", (g.End-start)/minute-1)
	for i := range g.Candles {
		text += fmt.Sprint(" ", g.Candles[i].Market)
	}
	s.calls.add("%s, missing %v", text, g.Missing)
	if s.act != nil {
		s.act(d, g)
	}
}

func threeMarkets(t *testing.T, s strategy.Strategy, warmup int) *bench {
	return newBench(t, setup{markets: 3,
		slots: []engine.StrategyConfig{{Strategy: s, Markets: []market.ID{1, 2, 3}, Warmup: []int{warmup}}}})
}

// arrive lets the candle of a minute, counted from the start, reach the engine alone, seconds after
// its close.
func (b *bench) arrive(m market.ID, index, seconds market.Time) {
	b.t.Helper()
	c := candleOf(m, 100, 100, 100, 100)
	c.Start = start + index*minute
	at := c.End() + seconds*minute/60
	for due, waiting := b.engine.NextTimer(); waiting && due <= at; due, waiting = b.engine.NextTimer() {
		b.engine.Step(&market.Event{Kind: market.KindTimer, At: max(due, b.engine.Now())})
	}
	b.engine.Step(&market.Event{Kind: market.KindCandles, At: max(at, b.engine.Now()), Candles: []market.Candle{c}})
}

func TestAGroupIsHandedOverOnceAfterItsLastCandle(t *testing.T) {
	s := &gatherer{}
	b := threeMarkets(t, s, 0)
	b.group(candleOf(1, 100, 100, 100, 100), candleOf(2, 100, 100, 100, 100), candleOf(3, 100, 100, 100, 100))
	b.arrive(3, 1, 2)
	b.arrive(1, 1, 3)
	b.arrive(2, 1, 4)
	require.Equal(t, journal{"candle 1 of minute 0", "candle 2 of minute 0", "candle 3 of minute 0",
		"group of minute 0: 1 2 3, missing []",
		"candle 3 of minute 1", "candle 1 of minute 1", "candle 2 of minute 1", "group of minute 1: 3 1 2, missing []"},
		s.calls)
}

// A market that is only read belongs to the group; without its candle it is not missing, for it has
// nothing to be traded.
func TestAGroupHasTheMarketsThatAreRead(t *testing.T) {
	s := &gatherer{}
	b := newBench(t, setup{markets: 3, slots: []engine.StrategyConfig{{Strategy: s, Markets: []market.ID{2},
		Reads: []market.ID{2, 3}, Warmup: []int{0}}}})
	b.arrive(1, 0, 1) // neither
	b.arrive(2, 0, 2)
	b.arrive(3, 0, 4)
	b.arrive(2, 1, 2)
	b.arrive(3, 2, 2) // ends the group before
	require.Equal(t, journal{"candle 2 of minute 0", "candle 3 of minute 0", "group of minute 0: 2 3, missing []",
		"candle 2 of minute 1", "group of minute 1: 2, missing []", "candle 3 of minute 2"}, s.calls)
}

func TestAMarketThatIsLateOrHadNoTradeIsMissing(t *testing.T) {
	s := &gatherer{}
	b := threeMarkets(t, s, 0)
	b.arrive(1, 0, 2)
	b.arrive(2, 0, 4)
	due, waiting := b.engine.NextTimer()
	require.True(t, waiting)
	require.Equal(t, start+minute+2*minute/60+market.Time(strategy.GroupGrace), due)
	b.arrive(3, 0, 8) // a second after the wait
	b.arrive(1, 1, 2)
	b.arrive(2, 2, 2) // a later instant ends the wait at once, before its OnCandle
	require.Equal(t, journal{"candle 1 of minute 0", "candle 2 of minute 0", "group of minute 0: 1 2, missing [3]",
		"candle 3 of minute 0", "candle 1 of minute 1", "group of minute 1: 1, missing [2 3]", "candle 2 of minute 2"},
		s.calls)
}

func TestAnAskOfAGroupGoesOutAndAPanicHaltsItsStrategyAlone(t *testing.T) {
	s := &gatherer{act: func(d *strategy.Desk, g strategy.Group) {
		if len(g.Missing) > 0 {
			panic("a market is missing")
		}
		_, err := d.In(2).Buy(strategy.Amount(btc))
		require.NoError(t, err)
	}}
	b := threeMarkets(t, s, 0)
	b.group(candleOf(1, 100, 100, 100, 100), candleOf(2, 100, 100, 100, 100), candleOf(3, 100, 100, 100, 100))
	require.Equal(t, []string{"buy 1"}, b.sent)
	b.group(candleOf(1, 100, 100, 100, 100))
	b.group(candleOf(1, 100, 100, 100, 100))
	require.Len(t, b.engine.Halts(), 1)
	require.Contains(t, b.engine.Halts()[0].Reason, "a market is missing")
}

func TestAfterARestartNoGroupComesTwice(t *testing.T) {
	s := &gatherer{}
	b := threeMarkets(t, s, 1)
	for m := range market.ID(3) {
		b.arrive(m+1, 0, 2)
	}
	b.arrive(1, 1, 2)
	saved := saveAll(t, b.engine)

	again := &gatherer{}
	_, b.engine = b.remake(again)
	history := [][]market.Candle{{}, {}}
	for m := range market.ID(3) {
		c := candleOf(m+1, 100, 100, 100, 100)
		c.Start = start
		history[0] = append(history[0], c)
	}
	c := candleOf(1, 100, 100, 100, 100)
	c.Start = start + minute
	history[1] = append(history[1], c)
	_, err := b.engine.Restore(b.now+2*minute, saved, past(history))
	require.NoError(t, err)
	b.arrive(2, 1, 3)
	b.arrive(3, 1, 4)
	b.arrive(1, 1, 5) // once more
	require.Equal(t, journal{"candle 1 of minute 0", "candle 2 of minute 0", "candle 3 of minute 0",
		"group of minute 0: 1 2 3, missing []", "candle 1 of minute 1", "candle 2 of minute 1", "candle 3 of minute 1",
		"group of minute 1: 1 2 3, missing []", "candle 1 of minute 1"}, again.calls)
}
