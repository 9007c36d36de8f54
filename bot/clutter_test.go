package bot_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// clutter adds rows to a store that must not matter to runs of a series over [from, to): wild
// prices with many decimals before and behind the range, other intervals of the market, and another
// market. away is how many candles lie between: more than the longest warm-up. Zero is no bound:
// there are no rows before it, or behind it.
func clutter(t testing.TB, db, name string, interval market.Interval, from, to market.Time, away int64) {
	t.Helper()
	store, err := candles.Open(db)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	put := func(name string, interval market.Interval, first int64, count int64) {
		var rows []market.Candle
		for i := range count {
			price := market.Price(1_234_567 + i*97_531*i%7_654_321) // 0.1234567 and the like
			rows = append(rows, market.Candle{Start: interval.StartOf(first + i), Interval: interval, Open: price,
				High: 97 * price, Low: price / 3, Close: 2 * price, Volume: market.Volume(1 + i)})
		}
		_, err := store.Put(candles.WriteOptions{Market: name, Interval: interval}, rows, 7, 7, nil)
		require.NoError(t, err)
	}
	const count = 500
	if from != 0 {
		put(name, interval, interval.Index(from)-away-count, count)
	}
	if to != 0 {
		put(name, interval, interval.Index(to), count)
	}
	put(name, market.Interval1M, market.Interval1M.Index(from), 40)
	put("ZZZ-EUR", interval, interval.Index(from), 3*count)
}
