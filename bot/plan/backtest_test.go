package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/internal/clutter"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
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
		"no limit: strategy a: max_open_orders, orders_per_minute, max_position, max_data_age",
		"no limit: strategy b: max_open_orders, orders_per_minute, max_position, max_data_age"}, p.Unlimited())
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
		"strategies.trend.params.share=0.990", "risk.opposite=allow", "risk.max_asset_exposure={}",
		"backtest.latency=0ms", "backtest.path=\"adaptive\""} {
		require.Equal(t, plain, hashOf(t, same), same)
	}
	seen := map[string]string{plain: ""}
	for _, other := range []string{"account.start.EUR=10000.01", "backtest.seed=2", "data.source=store",
		"strategies.trend.params.fast=99", "backtest.from=2021-02-01",
		"backtest.latency=1ms", "markets.BTC-EUR.tick_size=1", "risk.max_exposure=1",
		"risk.max_asset_exposure.BTC=1", "risk.opposite=refuse", "risk.volatility_target=20%",
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
	require.NoError(t, clutter.Add(store, "BTC-EUR", market.Interval1h, 0, 0, 0))
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

// Markets of one strategy move by the same candles, so that the money of a sale is there for a
// purchase at the same time.
func TestMarketsThatAreTradedTogetherMoveByTheSameCandles(t *testing.T) {
	const all = `a = {kind = "smacross", markets = ["A-EUR", "B-EUR", "C-EUR"], interval = "1d"}`
	for name, row := range map[string]struct {
		strategies string
		has        map[string][]market.Interval // a market's shorter candles beside those of 1d
		want       []market.Interval            // of A, B and C
		say        string
	}{
		"one lacks hours": {`a = {kind = "smacross", markets = ["A-EUR", "B-EUR"], interval = "1d"}
c = {kind = "smacross", markets = ["C-EUR"], interval = "1d"}`,
			map[string][]market.Interval{"A-EUR": {market.Interval1h}, "C-EUR": {market.Interval1h}},
			[]market.Interval{market.Interval1d, market.Interval1d, market.Interval1h},
			"A-EUR and B-EUR move by 1d candles, the finest that all of them have. A-EUR has 1h over " +
				"the whole range, B-EUR has not."},
		"both have hours, one minutes": {all,
			map[string][]market.Interval{"A-EUR": {market.Interval30m, market.Interval1h}, "B-EUR": {market.Interval1h},
				"C-EUR": {market.Interval1h}},
			[]market.Interval{market.Interval1h, market.Interval1h, market.Interval1h},
			"A-EUR, B-EUR and C-EUR move by 1h candles"},
		"a strategy needs hours": {`a = {kind = "smacross", markets = ["A-EUR"], interval = "1h"}
b = {kind = "smacross", markets = ["A-EUR", "B-EUR", "C-EUR"], interval = "1d"}`,
			map[string][]market.Interval{"A-EUR": {market.Interval1h}},
			[]market.Interval{market.Interval1h, market.Interval1d, market.Interval1d},
			"Candles of different lengths move the markets (A-EUR: 1h, B-EUR: 1d)."},
		"all alike": {all, nil,
			[]market.Interval{market.Interval1d, market.Interval1d, market.Interval1d}, ""},
	} {
		var given []Series
		for _, asset := range []string{"A-EUR", "B-EUR", "C-EUR"} {
			for _, interval := range append([]market.Interval{market.Interval1d}, row.has[asset]...) {
				given = append(given, tenDays(asset, interval))
			}
		}
		text := ""
		for line := range strings.SplitSeq(row.strategies, "\n") {
			kind, rest, _ := strings.Cut(line, " = ")
			text += "strategies." + kind + " = " + rest + "\n"
		}
		c, err := config.LoadBacktest(&config.Source{Text: text})
		require.NoError(t, err, name)
		p, err := NewBacktest(c, smaCross())
		require.NoError(t, err, name)
		library, err := NewGiven(given)
		require.NoError(t, err, name)
		require.NoError(t, p.Finish(library), name)
		moved := map[string]market.Interval{}
		for _, f := range p.Run.Feeds {
			if f.Drive {
				moved[f.Market.Name] = f.Interval
			}
		}
		require.Equal(t, map[string]market.Interval{"A-EUR": row.want[0], "B-EUR": row.want[1], "C-EUR": row.want[2]},
			moved, name)
		said := strings.Join(slices.DeleteFunc(p.Options.Assumptions, func(line string) bool {
			return strings.HasPrefix(line, "Tick sizes ")
		}), "\n")
		require.Contains(t, said, row.say, name)
		require.Equal(t, row.say == "", said == "", "%s: %s", name, said)
	}
}

// tenDays are candles of one price.
func tenDays(name string, interval market.Interval) Series {
	s := Series{Market: name, Interval: interval, PriceDigits: 2, VolumeDigits: 2}
	begin := interval.Floor(synthetic.BTCEURStart)
	for at := begin; at < begin+10*market.Interval1d.End(0); at = interval.End(at) {
		s.Candles = append(s.Candles, market.Candle{Interval: interval, Start: at, Open: 100, High: 100, Low: 100,
			Close: 100, Volume: 1})
	}
	return s
}

func smaCross() []strategy.Definition { return []strategy.Definition{shipped.SMACross} }
