package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

func TestTheEngineShowsWhichStrategyIsInWhichCallback(t *testing.T) {
	var calls *engine.Callback
	var seen []string
	last := uint64(0)
	note := func() {
		call, in := calls.Now()
		require.True(t, in)
		require.Equal(t, market.StrategyID(2), call.Strategy)
		require.GreaterOrEqual(t, call.At, start)
		require.Greater(t, call.Number, last, "every call has a number of its own")
		last = call.Number
		seen = append(seen, call.Kind.String())
	}
	s := &script{
		start:  func(d *strategy.Desk) { d.Timer(start+1, 1); note() },
		ticker: func(*strategy.Desk, market.Ticker) { note() },
		book:   func(*strategy.Desk, strategy.OrderBook) { note() },
		candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)); note() }),
		timer:  func(*strategy.Desk, int64) { note() },
		order:  func(*strategy.Desk, market.Order, market.Report) { note() },
		fill:   func(*strategy.Desk, market.Fill) { note() },
	}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: &script{}}, {Strategy: s, Ticker: true,
		Book: true}}})
	calls = b.engine.Callback()
	outside := func() {
		_, in := calls.Now()
		require.False(t, in, "after %v", seen)
	}
	outside()
	b.send(b.engine.Start(start))
	outside()
	b.candle(100, 100, 100, 100)
	outside()
	b.step(&market.Event{Kind: market.KindTicker, At: b.now, Ticker: &market.Ticker{Market: 1, Last: 1}})
	b.step(&market.Event{Kind: market.KindBook, At: b.now, Book: &market.OrderBook{Market: 1}})
	b.flat(2, 100)
	outside()
	for _, name := range []string{"OnStart", "OnTimer", "OnCandle", "OnOrder", "OnTicker", "OnBook", "OnFill"} {
		require.Contains(t, seen, name)
	}
}

func TestACallbackThatPanicsIsLeft(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: &script{candle: func(*strategy.Desk,
		market.Candle) {
		panic("no")
	}}}}})
	b.candle(100, 100, 100, 100)
	_, in := b.engine.Callback().Now()
	require.False(t, in)
}
