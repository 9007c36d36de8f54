package bot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// kills is how often each command is killed at a random moment of its life.
const kills = 20

// killed starts the command as a process of its own, kills it after a while and reports whether it
// had ended before.
func killed(t *testing.T, dir string, after time.Duration, args ...string) (ended bool) {
	cmd := bottest.Child(bottest.Program(t), args...)
	cmd.Dir = dir
	require.NoError(t, cmd.Start())
	timer := time.AfterFunc(min(after, 2*bottest.Patience), func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	return cmd.Wait() == nil
}

func TestAnImportThatIsKilledLeavesTheStoreWhole(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	const rows = 150_000
	dir, store := t.TempDir(), ""
	file := rowsFile(t, 0, rows)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range kills {
		store = filepath.Join(dir, fmt.Sprint(n%2, ".db")) // each store is hit again and again
		after := time.Duration(random.Int64N(int64(60 * time.Millisecond)))
		killed(t, dir, after, "candles", "import", "--db", store, "--market", "BTC-EUR", "--interval", "1m", file)
		requireWhole(t, store, rows, fmt.Sprintf("seed %d, kill %d after %s", seed, n, after))
	}
	require.True(t, killed(t, dir, time.Hour, "candles", "import", "--db", store, "--market", "BTC-EUR", "--interval",
		"1m", file))
	requireWhole(t, store, rows, "in the end")
}

// rowsFile writes rows of one-minute candles from the first-th on.
func rowsFile(t *testing.T, first, rows int64) string {
	var csv bytes.Buffer
	for i := first; i < first+rows; i++ {
		fmt.Fprintf(&csv, "%d,100.5,101,%d,100.75,%d.25\n", 1640995200000+i*60_000, 90+i%10, i*7919%100_003)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	require.NoError(t, os.WriteFile(path, csv.Bytes(), 0o600))
	return path
}

// requireWhole wants a store that is sound and holds all rows or none.
func requireWhole(t *testing.T, path string, rows int64, when string) {
	store, err := candles.Open(path) // makes the file where the process did not come so far
	require.NoError(t, err, when)
	defer store.Close()
	report, err := store.Verify()
	require.NoError(t, err, when)
	require.Empty(t, report.Problems, when)
	series, err := store.List()
	require.NoError(t, err, when)
	if len(series) > 0 {
		require.Equal(t, rows, series[0].Candles, when)
		require.Equal(t, market.Interval1m, series[0].Interval, when)
	}
}

func TestABacktestThatIsKilledLeavesNoHalfResult(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := t.TempDir()
	run := func(fast int, after time.Duration) bool {
		return killed(t, dir, after, "backtest", "--out", "out", "--set",
			fmt.Sprint("strategies.trend.params.fast=", fast))
	}
	require.True(t, run(30, time.Hour))
	names, err := os.ReadDir(filepath.Join(dir, "out"))
	require.NoError(t, err)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range kills {
		after := time.Duration(random.Int64N(int64(80 * time.Millisecond)))
		run(31+n, after)
		text, err := os.ReadFile(filepath.Join(dir, "out", "result.json"))
		require.NoError(t, err)
		require.True(t, json.Valid(text), "seed %d, kill %d after %s", seed, n, after)
	}
	require.True(t, run(60, time.Hour))
	have, err := os.ReadDir(filepath.Join(dir, "out"))
	require.NoError(t, err)
	require.Equal(t, len(names), len(have), "nothing is left of the runs that were killed: %v", have)
}
