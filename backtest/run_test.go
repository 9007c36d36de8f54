package backtest

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/clutter"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// sharedFile is a file of the reference run or of the real candles; a clone of the project alone
// does not have them.
func sharedFile(t testing.TB, name string) string {
	path := filepath.Join("..", "..", "shared", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here: %v", path, err)
	}
	return path
}

// referencePlan is the run of ../shared/reference: 10,000,000 EUR of 8 decimals, whole units of
// base, 0.25 % on every fill.
func referencePlan(t testing.TB) *Plan {
	file, err := os.Open(sharedFile(t, "data/bitvavo_BTC-EUR_1h_2020-2024.csv"))
	require.NoError(t, err)
	defer file.Close()
	store, err := candles.Open(filepath.Join(t.TempDir(), "candles.db"))
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	_, err = store.ImportCSV(file,
		candles.ImportOptions{WriteOptions: candles.WriteOptions{Market: "BTC-EUR", Interval: market.Interval1h}})
	require.NoError(t, err)
	priceDigits, volumeDigits, err := store.Digits("BTC-EUR")
	require.NoError(t, err)
	series, err := store.Series("BTC-EUR", market.Interval1h)
	require.NoError(t, err)
	to := market.Interval1h.End(series.Last)
	require.NoError(t, clutter.Add(store, "BTC-EUR", market.Interval1h, series.First, to, 1000))

	var catalog market.Catalog
	_, err = catalog.AddAsset("BTC", 8)
	require.NoError(t, err)
	eur, err := catalog.AddAsset("EUR", 8)
	require.NoError(t, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: priceDigits, VolumeDigits: volumeDigits}
	require.NoError(t, catalog.AddMarket(m))
	return &Plan{
		Catalog: &catalog, Currency: eur, From: series.First, To: to,
		Deposits: []Deposit{{Asset: eur.ID, Money: 10_000_000_00000000}},
		Strategies: []StrategyPlan{{
			Name: "cross", Kind: shipped.SMACross, Values: map[string]any{"fast": int64(10), "slow": int64(20),
				"share": "0.99"},
			Markets: []*market.Market{m}, Interval: market.Interval1h,
		}},
		Feeds: []Feed{{Market: m, Interval: market.Interval1h, Drive: true, Deliver: true}},
		Open: func(f Feed, from, to market.Time) (Source, error) {
			return store.Read(candles.ReadOptions{Market: f.Market, Interval: f.Interval, From: from, To: to})
		},
		Fees: Fees{Maker: 250_000, Taker: 250_000},
	}
}

func TestTheReferenceRunGivesWhatTwoOtherEnginesGive(t *testing.T) {
	out := t.TempDir()
	result, err := Run(context.Background(), referencePlan(t), Options{Out: out})
	require.NoError(t, err)
	require.Equal(t, "295028.42425", result.Performance.Final.String())
	require.Equal(t, "30134513.87575", result.Performance.Fees.String())
	require.EqualValues(t, 1146, result.Trips.Count)
	require.InDelta(t, 0.98674537619, float64(result.Performance.Drawdown.Depth), 1e-11)
	require.InDelta(t, -1.4788644394, sharpeBehindTheFirstDay(t, out), 1e-10)
	require.InDelta(t, 0.52148286, float64(result.Performance.Exposure), 5e-9)

	want, have := rows(t, sharedFile(t, "reference/sma-cross_btc-eur-1h_trades.csv")), rows(t,
		filepath.Join(out, "trades.csv"))
	require.Len(t, have, len(want))
	for i, w := range want[1:] {
		h := have[i+1] // market,side,entry_time_ms,entry_price,exit_time_ms,exit_price,amount,fees,pnl,reason
		require.Equal(t, []string{w[2], w[6]}, []string{h[2], h[4]}, "times of trade %d", i+1)
		for _, pair := range [][2]string{{w[3], h[3]}, {w[7], h[5]}, {w[4], h[6]}, {w[8], h[7]}, {w[9], h[8]}} {
			require.InDelta(t, number(t, pair[0]), number(t, pair[1]), 1e-6, "trade %d", i+1)
		}
	}
}

func rows(t *testing.T, path string) [][]string {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	return all
}

func number(t *testing.T, text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return n
}
