package engine_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A live bot has the history of its longest warm-up. Each strategy sees the latest candles that it
// needs, and starts with the first of them; a restart shows the same.
func TestEachStrategySeesTheHistoryThatItNeeds(t *testing.T) {
	var calls [3]journal
	slots := make([]engine.StrategyConfig, len(calls))
	for i, warmup := range []int{0, 2, 5} {
		slots[i] = engine.StrategyConfig{Warmup: []int{warmup}, Strategy: &script{
			start:  func(d *strategy.Desk) { calls[i].add("start at %d", d.Now()/minute) },
			candle: func(_ *strategy.Desk, c market.Candle) { calls[i].add("candle from %d", c.Start/minute) },
		}}
	}
	at := start + 5*minute
	b := newBench(t, setup{from: at, slots: slots})
	history := make([]market.Candle, 5)
	for i := range history {
		history[i] = candleOf(1, 100, 100, 100, 100)
		history[i].Start = start + market.Time(i)*minute
	}
	b.engine.See(history, at)
	b.engine.Start(start)
	for i := range history {
		b.engine.Step(&market.Event{Kind: market.KindCandles, At: history[i].End(), Candles: history[i : i+1]})
	}
	b.engine.StartRest(at)
	b.now = at
	b.flat(1, 100)
	require.Equal(t, [3]journal{{"start at 1005", "candle from 1005"},
		{"start at 1003", "candle from 1003", "candle from 1004", "candle from 1005"},
		{"start at 1000", "candle from 1000", "candle from 1001", "candle from 1002", "candle from 1003",
			"candle from 1004", "candle from 1005"}}, calls)

	saved := map[string][]byte{}
	require.NoError(t, b.engine.SaveAll(func(part string, data []byte) error {
		saved[part] = slices.Clone(data)
		return nil
	}))
	calls = [3]journal{}
	_, next := b.remake()
	next.See(history, at)
	_, err := next.Restore(at+minute, saved, oneByOne(history))
	require.NoError(t, err)
	require.Equal(t, [3]journal{{"start at 1006"}, {"start at 1006", "candle from 1003", "candle from 1004"},
		{"start at 1006", "candle from 1000", "candle from 1001", "candle from 1002", "candle from 1003",
			"candle from 1004"}}, calls)
}

// oneByOne yields candles of one market one by one.
func oneByOne(list []market.Candle) func(yield func([]market.Candle, error) bool) {
	return func(yield func([]market.Candle, error) bool) {
		for i := range list {
			if !yield(list[i:i+1], nil) {
				return
			}
		}
	}
}
