package seal

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/stats"
)

const (
	days     = 400
	firstDay = 20_000 // since 1970
)

// resultFolder writes the folder of a backtest of 400 days, on which a strategy could trade from
// the eleventh on. It returns the days' returns and trips from there on.
func resultFolder(t *testing.T, held func(day int) bool) (dir string, returns, trips []float64) {
	dir = t.TempDir()
	chance := rand.New(rand.NewPCG(1, 1))
	ms := func(day int) int64 { return int64(firstDay+day) * 86_400_000 }
	table := map[string]string{"days.csv": "time_ms,return\n", "trades.csv": "market,exit_time_ms\n",
		"equity.csv": "time_ms,equity,cash,position,exposure\n"}
	for day := range days {
		r, sold := 0.0, 0
		if day >= 10 {
			r, sold = 0.003+0.02*chance.NormFloat64(), chance.IntN(3)
			returns, trips = append(returns, r), append(trips, float64(sold))
		}
		exposure := 0
		if held(day) {
			exposure = 50
		}
		table["days.csv"] += fmt.Sprintf("%d,%v\n", ms(day+1), r)
		table["equity.csv"] += fmt.Sprintf("%d,100,50,50,%d\n", ms(day)-3_600_000, exposure)
		for range sold {
			table["trades.csv"] += fmt.Sprintf("BTC-EUR,%d\n", ms(day)+7)
		}
	}
	for name, text := range table {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	result := backtest.Result{Format: backtest.Format, Currency: "EUR",
		Strategies: []backtest.StrategyInfo{{Name: "trend",
			Kind: "smacross", Markets: []string{"BTC-EUR"}, Interval: "1h", Params: []backtest.Param{{Name: "fast",
				Value: "3"}},
			Began: []backtest.Began{{Market: "BTC-EUR", At: backtest.Moment(dayTime(firstDay + 10))}}}}}
	text, err := json.Marshal(&result)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "result.json"), text, 0o600))
	return dir, returns, trips
}

func TestAPromiseIsMadeOfTheDaysOutOfSample(t *testing.T) {
	dir, returns, trips := resultFolder(t, func(int) bool { return true })
	o := DefaultOptions()
	o.OutOfSample = dayTime(firstDay + 200)
	d, warnings, err := FromBacktest(dir, o)
	require.NoError(t, err)
	require.Empty(t, warnings)
	from := 190 // of the days on which a strategy could trade
	want := stats.Promise{Level: 0.05, Weights: [stats.Quantities]float64{0.25, 0.25, 0.25, 0.25},
		Slippage: stats.SlippagePromise{Unit: 10, Most: 0.5, Clip: 4}}
	want.Return, err = stats.PromiseOfReturns(returns, returns[from:], 0)
	require.NoError(t, err)
	want.Trips, err = stats.PromiseOfTrips(trips[from:])
	require.NoError(t, err)
	want.Drawdown, err = stats.PromiseOfDrawdown(returns[from:], 365, 0.01, drawdownResamples, 1)
	require.NoError(t, err)
	require.Equal(t, want, d.Promise)
	require.Equal(t, []int{390, 200}, []int{d.Backtest.Days, d.Backtest.OutOfSampleDays})
	require.Len(t, d.Backtest.ResultSHA256+d.Backtest.DaysSHA256, 128)

	require.Len(t, d.OtherStrategies([]Strategy{{Name: "trend", Kind: "smacross", Markets: []string{"BTC-EUR"},
		Interval: "1h", Params: []backtest.Param{{Name: "fast", Value: "4"}}}}), 1)

	text, err := d.Encode()
	require.NoError(t, err)
	back, err := decode(text)
	require.NoError(t, err)
	require.Equal(t, d, back)
	require.Contains(t, d.Delay(), "daily looks at the returns alone notice it after about")
}

// Without a day out of sample, or without a position for weeks, the seal says so.
func TestAPromiseSaysOnWhatItRests(t *testing.T) {
	dir, _, _ := resultFolder(t, func(day int) bool { return day/20%2 == 0 })
	d, warnings, err := FromBacktest(dir, DefaultOptions())
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "no day is out of sample")
	require.InDelta(t, 0.25, d.Promise.Return.Exposure, 0.02, "half of the equity, half of the time")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "trades.csv"), []byte("market,exit_time_ms\n"), 0o600))
	d, warnings, err = FromBacktest(dir, DefaultOptions())
	require.NoError(t, err)
	require.Contains(t, strings.Join(warnings, "; "), "round trips are not promised")
	require.Zero(t, d.Promise.Weights[stats.QuantityTrips])
	require.InDelta(t, 1.0/3, d.Promise.Weights[stats.QuantityReturn], 1e-12)

	require.NoError(t, os.WriteFile(filepath.Join(dir, walkPage), nil, 0o600))
	d, warnings, err = FromBacktest(dir, DefaultOptions())
	require.NoError(t, err)
	require.NotContains(t, strings.Join(warnings, "; "), "no day is out of sample", "no choice has seen them")
	other := []Strategy{{Name: "trend", Kind: "smacross", Markets: []string{"BTC-EUR"}, Interval: "1h"}}
	require.Empty(t, d.OtherStrategies(other), "windows have parameters of their own")
	require.NoError(t, os.Remove(filepath.Join(dir, walkPage)))

	o := DefaultOptions()
	o.OutOfSample = dayTime(firstDay + days - 5)
	_, _, err = FromBacktest(dir, o)
	require.ErrorContains(t, err, "5 days out of sample are too few: at least 30")
	require.NoError(t, os.Remove(filepath.Join(dir, "trades.csv")))
	_, _, err = FromBacktest(dir, DefaultOptions())
	require.ErrorContains(t, err, "it needs all files of a backtest")
}

func TestTheChangesSinceASealAreNamed(t *testing.T) {
	sealed := []Strategy{{Name: "a", Kind: "grid", Markets: []string{"BTC-EUR"}, Interval: "1h",
		Params: []backtest.Param{{Name: "levels", Value: "5"}}}, {Name: "b", Kind: "dca"}}
	now := []Strategy{{Name: "a", Kind: "grid", Markets: []string{"ETH-EUR"}, Interval: "1h",
		Params: []backtest.Param{{Name: "levels", Value: "6"}}}, {Name: "c", Kind: "dca"}}
	require.Equal(t, []string{"a.markets: [BTC-EUR] was sealed, it is [ETH-EUR]", "a.levels: 5 was sealed, it is 6",
		"strategy b was sealed and is missing", "strategy c was not sealed"}, Changes(sealed, now))
	require.Empty(t, Changes(sealed, sealed))
}

// What came in during a day is no profit, and what left is no loss.
func TestAReturnHasNoTransfers(t *testing.T) {
	for _, c := range []struct {
		before, held, after, transfers int64
		r, share                       float64
		known                          bool
	}{
		{100, 50, 110, 0, 0.1, 0.5, true},
		{100, 200, 210, 100, 0.05, 1, true}, // the money counts from the beginning of the day
		{100, 0, 60, -50, 0.1, 0, true},
		{0, 0, 100, 100, 0, 0, false},
		{-5, 0, 5, 0, 0, 0, false},
	} {
		r, share, known := returnOf(c.before, c.held, c.after, c.transfers)
		require.Equal(t, c.known, known, "%+v", c)
		require.InDelta(t, c.r, r, 1e-12, "%+v", c)
		require.InDelta(t, c.share, share, 1e-12, "%+v", c)
	}
	require.InDelta(t, 10, bps(true, 10_010, 10_000, 10_000), 1e-9)
	require.InDelta(t, 10, bps(false, 9_990, 10_000, 10_000), 1e-9)
	require.InDelta(t, -5, bps(true, 9_995, 10_000, 10_000), 1e-9, "better than the best price")
	require.Equal(t, "2024-10-04", dateOf(dayTime(firstDay)))
	require.Equal(t, market.Time(firstDay)*86_400_000_000_000, dayTime(firstDay))
}

func TestAKeyIsReadByItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seal.key")
	public, err := NewKey(path)
	require.NoError(t, err)
	key, err := ReadKey(path)
	require.NoError(t, err)
	require.Equal(t, public, keyText(PublicKey(key)))
	_, err = NewKey(path)
	require.ErrorContains(t, err, "file exists", "a key is never replaced")
	require.NoError(t, os.Chmod(path, 0o644))
	_, err = ReadKey(path)
	require.ErrorContains(t, err, "can be read by others")
	require.NoError(t, os.WriteFile(path+"2", []byte("no key"), 0o600))
	_, err = ReadKey(path + "2")
	require.ErrorContains(t, err, "is no key in PEM")
}
