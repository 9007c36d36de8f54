package bot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/internal/clutter"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

func TestAnInterruptedBacktestLeavesNothingBehind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "out")
	code, out, failed := call(ctx, "backtest", "--out", dir)
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Contains(t, failed, "bot: interrupted; nothing half-written is left behind\n")
	left, err := os.ReadDir(dir)
	require.True(t, os.IsNotExist(err) || len(left) == 0, "%v", left)
}

func TestAnInterruptedImportStoresNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	file, db := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.db")
	require.NoError(t, os.WriteFile(file, []byte("1609459200000,10,12,9,11.5,1.25\n"), 0o644))
	code, _, failed := call(ctx, "candles", "import", "--db", db, "--market", "BTC-EUR", "--interval", "1h", file)
	require.Equal(t, 1, code)
	require.Contains(t, failed, "interrupted")
	code, out, _ := call(t.Context(), "candles", "list", "--db", db, "--json")
	require.Zero(t, code)
	require.JSONEq(t, "[]", out)
}

// hours stores the synthetic market and returns the file.
func hours(t *testing.T) string {
	m := &market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}
	stored, err := synthetic.BTCEUR(m, 1)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "candles.db")
	store, err := candles.Open(path)
	require.NoError(t, err)
	_, err = store.Put(candles.WriteOptions{Market: "BTC-EUR", Interval: market.Interval1h}, stored, 2, 8, nil)
	require.NoError(t, err)
	require.NoError(t, clutter.Add(store, "BTC-EUR", market.Interval1h, 0, 0, 0))
	require.NoError(t, store.Close())
	return path
}

func result(t *testing.T, args ...string) *backtest.Result {
	t.Helper()
	code, out, failed := call(t.Context(), append([]string{"backtest", "--json"}, args...)...)
	require.Zero(t, code, failed)
	var r backtest.Result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	return &r
}

func TestStoredAndMadeUpCandlesGiveTheSameResult(t *testing.T) {
	stored, madeUp := result(t, "--db", hours(t), "--from", "2021-06-01"), result(t, "--from", "2021-06-01")
	require.False(t, stored.Synthetic)
	require.True(t, madeUp.Synthetic)
	require.Equal(t, madeUp.Performance, stored.Performance)
	require.Equal(t, madeUp.Trips, stored.Trips)
	require.Equal(t, madeUp.Data, stored.Data)
	require.Positive(t, stored.Data[0].Missing)
}

func TestADamagedStoreNamesTheChunk(t *testing.T) {
	path := hours(t)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for tenth := 1; tenth < 10; tenth++ { // a page in the middle may be a free one
		data[len(data)/10*tenth] ^= 0x5a
	}
	require.NoError(t, os.WriteFile(path, data, 0o644))
	code, out, failed := call(t.Context(), "candles", "verify", "--db", path)
	require.Equal(t, 1, code)
	require.Regexp(t, `BTC-EUR 1h chunk \d+ \(202\d-`, out)
	require.Contains(t, failed, "corrupt")
	code, _, failed = call(t.Context(), "backtest", "--db", path, "--json")
	require.Equal(t, 1, code)
	require.Regexp(t, `chunk \d+ .*corrupt`, failed)
}

func TestAllocationsAndSeveralStrategiesRunTogether(t *testing.T) {
	r := result(t, "--set", "strategies.trend.allocation=4000", "--set", "strategies.dip.kind=rsirevert",
		"--set", "strategies.dip.markets=BTC-EUR", "--set", "strategies.dip.interval=4h")
	require.Equal(t, "10000", r.Performance.Start.String())
	require.Equal(t, []string{"dip", "trend"}, []string{r.Strategies[0].Name, r.Strategies[1].Name})
	require.Len(t, r.Data, 2)
	require.Positive(t, r.Data[1].Candles)
}

// The reference run of ../shared, which two other engines agree on, as a config of this one.
const reference = `
[data]
candles = %q
[account]
taker_fee = "0.0025"
fee_rounding = "none"
start = { EUR = "10000000" }
[assets]
EUR.decimals = 8
[markets.BTC-EUR]
quantity_decimals = 0
[strategies.trend]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1h"
params = { fast = 10, slow = 20, share = "0.99" }
`

func TestTheReferenceRunAgreesThroughTheCommandLine(t *testing.T) {
	file := filepath.Join("..", "..", "shared", "data", "bitvavo_BTC-EUR_1h_2020-2024.csv")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("the shared reference data is needed: %v", err)
	}
	db := filepath.Join(t.TempDir(), "candles.db")
	code, _, failed := call(t.Context(), "candles", "import", "--db", db, "--market", "BTC-EUR", "--interval", "1h",
		file)
	require.Zero(t, code, failed)
	config := filepath.Join(t.TempDir(), "reference.toml")
	require.NoError(t, os.WriteFile(config, []byte(fmt.Sprintf(reference, db)), 0o644))
	r := result(t, "-c", config)
	require.Equal(t, "295028.42425", r.Performance.Final.String())
	require.Equal(t, "30134513.87575", r.Performance.Fees.String())
	require.EqualValues(t, 1146, r.Trips.Count)
	// with the first day, which the two engines leave out: backtest compares without it
	require.InDelta(t, -1.4784037701, float64(r.Performance.Sharpe), 1e-10)
	require.InDelta(t, 0.52148286, float64(r.Performance.Exposure), 1e-8)
}

func TestBacktestInProcessNeedsNothingElse(t *testing.T) {
	r, err := bot.Backtest(t.Context(), shipped.SMACross, map[string]any{"fast": 20, "slow": 50})
	require.NoError(t, err)
	require.Positive(t, r.Trips.Count)
	require.Empty(t, r.Files)
	again, err := bot.Backtest(t.Context(), shipped.SMACross, map[string]any{"fast": "20"})
	require.NoError(t, err)
	require.Equal(t, r.Run, again.Run) // the defaults are the same values
	_, err = bot.Backtest(t.Context(), shipped.SMACross, map[string]any{"fats": 20})
	require.ErrorContains(t, err, `the nearest is "fast"`)
}
