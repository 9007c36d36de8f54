package plan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/smacross"
)

func TestTheSampleConfigsAreValid(t *testing.T) {
	files, err := filepath.Glob("../../configs/*.toml")
	require.NoError(t, err)
	checked := 0
	for _, file := range files {
		if base := filepath.Base(file); base != "backtest.toml" && base != "bench.toml" {
			continue // other commands read those
		}
		source, err := config.ReadSource(file, nil)
		require.NoError(t, err)
		c, err := config.LoadBacktest(source)
		require.NoError(t, err)
		_, err = NewBacktest(c, smaCross())
		require.NoError(t, err)
		checked++
	}
	require.Equal(t, 2, checked)
}

func TestRiskIsInheritedAndOverridden(t *testing.T) {
	c, err := config.LoadBacktest(&config.Source{Text: `
[risk]
max_order_value = "500"
price_collar = "0.05"
max_exposure = 900
cool_down_losses = 3
cool_down = "1h"
[strategies.a]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1h"
risk.max_order_value = "50.5"
[strategies.b]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1h"`})
	require.NoError(t, err)
	p, err := NewBacktest(c, smaCross())
	require.NoError(t, err)
	a, b := p.Strategies[0].Limits, p.Strategies[1].Limits
	require.Equal(t, risk.Limits{MaxOrderValue: 5050, PriceCollar: 5_000_000, CoolDownLosses: 3, CoolDown: 3600e9}, a)
	require.EqualValues(t, 50000, b.MaxOrderValue)
	require.EqualValues(t, 90000, p.Limits.MaxExposure)
	require.Equal(t, []string{"no limit: account: max_daily_loss, max_drawdown",
		"no limit: strategy a: max_open_orders, max_position, orders_per_minute, max_data_age",
		"no limit: strategy b: max_open_orders, max_position, orders_per_minute, max_data_age"}, p.Unlimited())
}

// builtinText is the config of `bot backtest` without one.
func builtinText(t *testing.T) string {
	text, err := os.ReadFile("../builtin.toml")
	require.NoError(t, err)
	return string(text)
}

func hashOf(t *testing.T, sets ...string) string {
	overrides, err := config.ParseSets(sets)
	require.NoError(t, err)
	c, err := config.LoadBacktest(&config.Source{Text: builtinText(t), Overrides: overrides})
	require.NoError(t, err)
	p, err := NewBacktest(c, smaCross())
	require.NoError(t, err)
	hash, err := p.hash(*p.Config)
	require.NoError(t, err)
	return hash
}

func TestTheConfigHashIsThatOfTheSettings(t *testing.T) {
	plain := hashOf(t)
	for _, same := range []string{"report.out=x", "report.envelope=false", "data.candles=x.db",
		"account.start.EUR=10000.00", "account.taker_fee=2.5e-3",
		"strategies.trend.params.share=0.990", "backtest.latency=0ms", "backtest.path=\"adaptive\""} {
		require.Equal(t, plain, hashOf(t, same), same)
	}
	seen := map[string]string{plain: ""}
	for _, other := range []string{"account.start.EUR=10000.01", "backtest.seed=2", "data.source=store",
		"strategies.trend.params.fast=99", "backtest.from=2021-02-01",
		"backtest.latency=1ms", "markets.BTC-EUR.tick_size=1", "risk.max_exposure=1",
		"strategies.trend.risk.reduce_only=true", "assets.BTC.decimals=7"} {
		hash := hashOf(t, other)
		require.NotContains(t, seen, hash, "%s and %s", other, seen[hash])
		seen[hash] = other
	}
}

// shortCandles stores some days of 1h candles and, beside them, what thirty() makes of 30m ones.
func shortCandles(t *testing.T, thirty func([]market.Candle) []market.Candle) Library {
	store, err := candles.Open(filepath.Join(t.TempDir(), "candles.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	put := func(interval market.Interval, n int, keep func([]market.Candle) []market.Candle) {
		m := &market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}
		g, err := synthetic.New(synthetic.Config{Seed: 3, Market: m, Interval: interval, Start: synthetic.BTCEURStart,
			First: 100_00, Volume: 1e8, GapChance: -1})
		require.NoError(t, err)
		made := make([]market.Candle, n)
		for i := range made {
			g.Next(&made[i])
		}
		_, err = store.Put(candles.WriteOptions{Market: m.Name, Interval: interval}, keep(made), 2, 8, nil)
		require.NoError(t, err)
	}
	put(market.Interval1h, 100, func(c []market.Candle) []market.Candle { return c })
	put(market.Interval30m, 200, thirty)
	return Stored{store}
}

func TestTheFinestCandlesThatCoverTheRangeMoveTheMarket(t *testing.T) {
	cut := func(from, to int) func([]market.Candle) []market.Candle {
		return func(c []market.Candle) []market.Candle { return append(c[:from:from], c[to:]...) }
	}
	for name, row := range map[string]struct {
		thirty func([]market.Candle) []market.Candle
		set    string
		want   market.Interval
	}{
		"whole":               {cut(0, 0), "", market.Interval30m},
		"one missing":         {cut(50, 51), "", market.Interval30m}, // its hour still has the other half
		"an hour missing":     {cut(50, 52), "", market.Interval1h},
		"begins late":         {cut(0, 2), "", market.Interval1h},
		"begins before range": {cut(0, 2), "backtest.from=1609466400000", market.Interval30m},
		"ends early":          {cut(190, 200), "", market.Interval1h},
		"ends after range":    {cut(190, 200), "backtest.to=1609545600000", market.Interval30m},
		"not wanted":          {cut(0, 0), "backtest.path_interval=strategy", market.Interval1h},
		"named":               {cut(50, 60), "backtest.path_interval=30m", market.Interval30m},
	} {
		source := &config.Source{Text: builtinText(t)}
		if row.set != "" {
			var err error
			source.Overrides, err = config.ParseSets([]string{row.set})
			require.NoError(t, err)
		}
		c, err := config.LoadBacktest(source)
		require.NoError(t, err)
		p, err := NewBacktest(c, smaCross())
		require.NoError(t, err)
		require.NoError(t, p.Finish(shortCandles(t, row.thirty)), name)
		driving := 0
		for _, f := range p.Run.Feeds {
			require.Equal(t, f.Interval == row.want, f.Drive, name)
			require.Equal(t, f.Interval == market.Interval1h, f.Deliver, name)
			if f.Drive {
				driving++
			}
		}
		require.Equal(t, 1, driving, name)
	}
}

func smaCross() []strategy.Definition { return []strategy.Definition{smacross.Definition} }
