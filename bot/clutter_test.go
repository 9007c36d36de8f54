package bot_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/clutter"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// cluttered adds rows to a store that must not matter to runs of a series over [from, to).
func cluttered(t testing.TB, db, name string, interval market.Interval, from, to market.Time, away int64) {
	t.Helper()
	store, err := candles.Open(db)
	require.NoError(t, err)
	require.NoError(t, clutter.Add(store, name, interval, from, to, away))
	require.NoError(t, store.Close())
}
