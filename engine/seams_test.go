package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/strategy"
)

// An update of price or amount would let a tactic trade more than its size.
func TestUpdateOfATacticsOrderChangesItsExitsAlone(t *testing.T) {
	b := one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), makerFirst, strategy.Exits(90*at1, 110*at1))
		},
		2: func(d *strategy.Desk) {
			require.ErrorContains(t, d.Update(1, strategy.Resize(strategy.Amount(5*btc))), "Update changes its exits alone")
			require.ErrorIs(t, d.Update(1, strategy.At(101*at1)), strategy.ErrMeaningless)
			require.NoError(t, d.Update(1, strategy.StopAt(95*at1)))
		},
	})})
	b.flat(2, 100)
	b.candle(100, 100, 99, 99)
	require.Equal(t, []string{"buy 1 @ 99.99", "stop 1 @ 95 attached"}, b.sent)
}

// The first part of a TWAP is also the entry of its bracket.
func TestARestartWhileTheFirstPartOfATWAPIsOpenKeepsItsBracket(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.TWAP(4*time.Minute, 4), strategy.Exits(90*at1, 110*at1))
	})}
	b := newBench(t, setup{slots: []engine.Slot{{Strategy: s}}, venue: sim.Config{Latency: 90e9}})
	b.flat(1, 100)
	watches := b.engine.Watches()
	b.restart(nil, s)
	b.done = func() { require.NoError(t, b.engine.CheckBrackets()) }
	copy(watches, b.engine.Watches())
	b.flat(2, 100)
}

// An exit that has sold all belongs to no bracket any more when the tactic hears of it.
func TestAStopThatSellsAllEndsATWAP(t *testing.T) {
	b := one(t, &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.TWAP(10*time.Minute, 10), strategy.Exits(95*at1, 110*at1))
	})})
	b.flat(3, 100)
	b.candle(100, 100, 90, 90)
	require.Zero(t, b.position())
	sent := len(b.sent)
	b.flat(10, 90)
	require.False(t, b.engine.Working(1, 1))
	require.Empty(t, b.sent[sent:])
}
