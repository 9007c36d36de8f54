package bot

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/smacross"
)

func testKinds() []strategy.Kind { return []strategy.Kind{smacross.Kind} }

// keys lists the keys of a section's struct, each with a tab before it.
func keys(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		name, kind := f.Tag.Get("toml"), f.Type
		if kind.Kind() == reflect.Map || kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case name == "":
		case kind.Kind() == reflect.Struct:
			names = append(names, keys(kind)...)
		case f.Type.Kind() != reflect.Map:
			names = append(names, name)
		}
	}
	return names
}

func TestTheSampleConfigShowsEveryKey(t *testing.T) {
	text, err := os.ReadFile("../configs/backtest.toml")
	require.NoError(t, err)
	for _, key := range keys(reflect.TypeFor[config.Backtest]()) {
		require.Regexp(t, `(?m)^(# )?`+key+` = `, string(text))
	}
}

func TestTheSampleConfigsAreValid(t *testing.T) {
	files, err := filepath.Glob("../configs/*.toml")
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
		_, err = newPlanner(c, testKinds())
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
	p, err := newPlanner(c, testKinds())
	require.NoError(t, err)
	a, b := p.Strategies[0].Limits, p.Strategies[1].Limits
	require.Equal(t, risk.Limits{MaxOrderValue: 5050, PriceCollar: 5_000_000, CoolDownLosses: 3, CoolDown: 3600e9}, a)
	require.EqualValues(t, 50000, b.MaxOrderValue)
	require.EqualValues(t, 90000, p.Limits.MaxExposure)
	require.Equal(t, []string{"no limit: account: max_daily_loss, max_drawdown",
		"no limit: strategy a: max_open_orders, max_position, orders_per_minute, max_data_age",
		"no limit: strategy b: max_open_orders, max_position, orders_per_minute, max_data_age"}, p.unlimited())
}

func hashOf(t *testing.T, sets ...string) string {
	overrides, err := config.ParseSets(sets)
	require.NoError(t, err)
	c, err := config.LoadBacktest(&config.Source{Text: builtin, Overrides: overrides})
	require.NoError(t, err)
	p, err := newPlanner(c, testKinds())
	require.NoError(t, err)
	hash, err := p.hash(*p.config)
	require.NoError(t, err)
	return hash
}

func TestTheConfigHashIsThatOfTheSettings(t *testing.T) {
	plain := hashOf(t)
	for _, same := range []string{"report.out=x", "report.envelope=false", "data.candles=x.db", "account.start.EUR=10000.00", "account.taker_fee=2.5e-3",
		"strategies.trend.params.share=0.990", "backtest.latency=0ms", "backtest.path=\"adaptive\""} {
		require.Equal(t, plain, hashOf(t, same), same)
	}
	seen := map[string]string{plain: ""}
	for _, other := range []string{"account.start.EUR=10000.01", "backtest.seed=2", "data.source=store", "strategies.trend.params.fast=99", "backtest.from=2021-02-01",
		"backtest.latency=1ms", "markets.BTC-EUR.tick_size=1", "risk.max_exposure=1", "strategies.trend.risk.reduce_only=true", "assets.BTC.decimals=7"} {
		hash := hashOf(t, other)
		require.NotContains(t, seen, hash, "%s and %s", other, seen[hash])
		seen[hash] = other
	}
}

// shortCandles stores some days of 1h candles and, beside them, what thirty() makes of 30m ones.
func shortCandles(t *testing.T, thirty func([]market.Candle) []market.Candle) library {
	store, err := state.OpenCandles(filepath.Join(t.TempDir(), "candles.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	put := func(interval market.Interval, n int, keep func([]market.Candle) []market.Candle) {
		m := &market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}
		g, err := synthetic.New(synthetic.Config{Seed: 3, Market: m, Interval: interval, Start: synthetic.BTCEURStart, First: 100_00, Volume: 1e8, GapChance: -1})
		require.NoError(t, err)
		candles := make([]market.Candle, n)
		for i := range candles {
			g.Next(&candles[i])
		}
		_, err = store.Put(state.WriteOptions{Market: m.Name, Interval: interval}, keep(candles), 2, 8, nil)
		require.NoError(t, err)
	}
	put(market.Interval1h, 100, func(c []market.Candle) []market.Candle { return c })
	put(market.Interval30m, 200, thirty)
	return storeLibrary{store}
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
		source := &config.Source{Text: builtin}
		if row.set != "" {
			var err error
			source.Overrides, err = config.ParseSets([]string{row.set})
			require.NoError(t, err)
		}
		c, err := config.LoadBacktest(source)
		require.NoError(t, err)
		p, err := newPlanner(c, testKinds())
		require.NoError(t, err)
		require.NoError(t, p.finish(shortCandles(t, row.thirty)), name)
		driving := 0
		for _, f := range p.plan.Feeds {
			require.Equal(t, f.Interval == row.want, f.Drive, name)
			require.Equal(t, f.Interval == market.Interval1h, f.Deliver, name)
			if f.Drive {
				driving++
			}
		}
		require.Equal(t, 1, driving, name)
	}
}

func TestVersionsNameTheRevisionWhereItIsKnown(t *testing.T) {
	require.Equal(t, "devel", codeVersion(nil, false))
	require.Equal(t, "v1.2.3", codeVersion(buildInfo("v1.2.3", "", ""), true))
	require.Equal(t, "devel", codeVersion(buildInfo("(devel)", "", ""), true))
	require.Equal(t, "abc", codeVersion(buildInfo("(devel)", "abc", "false"), true))
	require.Equal(t, "abc+changes", codeVersion(buildInfo("v1.2.3", "abc", "true"), true))
	require.Empty(t, releasedVersion(buildInfo("(devel)", "abc", "true"), true))
	require.Empty(t, releasedVersion(buildInfo("v0.0.0-2026+dirty", "", ""), true))
	require.Equal(t, "v1.2.3", releasedVersion(buildInfo("v1.2.3", "", ""), true))
}

func TestARefusalByALimitHasItsOwnExitCode(t *testing.T) {
	a := &app{entered: true}
	require.Equal(t, exitRefused, a.exitCode(errors.Join(&risk.Refusal{Reason: risk.ReasonDrawdown})))
	require.Equal(t, exitFailed, a.exitCode(errors.New("x")))
	require.Equal(t, config.ExitUsage, a.exitCode(config.Usagef("x")))
}

// FuzzConfig feeds the loader anything: it must end in a config or an error that is about the usage, never in a panic.
func FuzzConfig(f *testing.F) {
	f.Add(builtin, "strategies.trend.params.fast=20")
	f.Add("[a\n", "a.b=[1")
	f.Add("account.start = { EUR = nan }\n[strategies.x]\nrisk = 5", "account.start.EUR={}")
	f.Add("[[strategies]]\nkind=\"\"\"", "\"a b\".'c'=\"")
	f.Fuzz(func(t *testing.T, text, set string) {
		source := &config.Source{Text: text}
		if sets, err := config.ParseSets([]string{set}); err == nil {
			source.Overrides = sets
		}
		c, err := config.LoadBacktest(source)
		if err == nil {
			_, err = newPlanner(c, testKinds())
		}
		if err != nil {
			require.Contains(t, []int{config.ExitUsage, config.ExitConfig}, (&app{entered: true}).exitCode(err), "%v", err)
		}
	})
}

func buildInfo(version, revision, modified string) *debug.BuildInfo {
	info := &debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: version}}
	if revision != "" {
		info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}
	}
	return info
}
