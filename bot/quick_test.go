package bot_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/internal/clutter"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

var _ = flag.Bool("update", false, "write the golden files anew; a person reads the difference")

// pair are short averages, which trade within a few candles.
var pair = map[string]any{"fast": 2, "slow": 4}

// waves are closes that make pair trade.
const waves = "100 101 102 103 104 90 80 70 85 95.5 99 110 90 80 70"

func TestCandlesOfATestHaveTheirOwnTrades(t *testing.T) {
	result, err := bot.Backtest(t.Context(), shipped.SMACross, pair,
		bot.Closes("BTC-EUR", market.Interval1h, waves), bot.Cash("1000"), bot.Fees("0.1%", "20bps"))
	require.NoError(t, err)
	strategytest.Golden(t, result, "testdata/waves.golden")

	require.Len(t, result.Trades, 1)
	trade := &result.Trades[0]
	require.Zero(t, trade.Entry.Cmp("95.5"))
	require.Zero(t, trade.Exit.Cmp("80"))
	require.Zero(t, trade.Profit.Cmp("-164.32"))
	require.Equal(t, trade.Profit, result.Trips.Net)
	require.Negative(t, trade.Profit.Cmp("-164.31"))
	require.InDelta(t, 80/95.5-1-0.002-0.002*80/95.5, float64(trade.Return()), 1e-4)
	require.Equal(t, "cross down", trade.Reason)
	require.Equal(t, "2024-01-01T10:00:00Z", trade.Entered.String())
	require.Len(t, result.Fills, 2)
	require.Equal(t, market.Buy, result.Fills[0].Side)
	require.Zero(t, result.Performance.Gain.Cmp("-164.32"))
	depth := result.Performance.Drawdown.Depth.Rate()
	require.True(t, 27*market.Percent < depth && depth < 28*market.Percent, "%s", depth)
	require.Empty(t, result.Files)
}

// The same candles give the same result, however they come in: as a slice, from a CSV file, from a
// store; and a longer interval merged here is the one that the store resamples.
func TestEverySourceOfCandlesGivesTheSameResult(t *testing.T) {
	bottest.Unraced(t)
	m := market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}
	seed := rand.Uint64N(1000)
	t.Log("seed", seed)
	list, err := synthetic.BTCEUR(&m, seed)
	require.NoError(t, err)
	list = list[seed/2 : 3000]
	dir := t.TempDir()
	db, file := filepath.Join(dir, "candles.db"), filepath.Join(dir, "candles.csv")
	store, err := candles.Open(db)
	require.NoError(t, err)
	_, err = store.Put(candles.WriteOptions{Market: m.Name, Interval: market.Interval1h, PriceDigits: 2}, list,
		m.PriceDigits, m.VolumeDigits, nil)
	require.NoError(t, err)
	_, err = store.Resample(candles.ResampleOptions{Market: m.Name, From: market.Interval1h, To: market.Interval4h})
	require.NoError(t, err)
	var text bytes.Buffer
	_, err = store.ExportCSV(&text, m.Name, market.Interval1h, 0, 0)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text.Bytes(), 0o644))

	_, err = store.Resample(candles.ResampleOptions{Market: m.Name, From: market.Interval1h, To: market.Interval1d})
	require.NoError(t, err)
	for _, interval := range []market.Interval{market.Interval1h, market.Interval4h, market.Interval1d} {
		first, last := interval.Floor(list[0].Start), interval.End(list[len(list)-1].Start)
		require.NoError(t, clutter.Add(store, m.Name, interval, first, last, 1000))
	}
	require.NoError(t, store.Close())

	between := bot.Between(list[300].Start.String(), list[2000].Start.String())
	for _, interval := range []market.Interval{market.Interval1h, market.Interval4h} {
		run := func(with ...bot.Option) string {
			with = append(with, between, bot.Set("markets.BTC-EUR.tick_size", "0.01"))
			result, err := bot.Backtest(t.Context(), shipped.Breakout, nil, with...)
			require.NoError(t, err)
			require.NotEmpty(t, result.Trades)
			days, err := bot.Backtest(t.Context(), shipped.TrendFilter, map[string]any{"days": 2}, with...)
			require.NoError(t, err)
			require.NotEmpty(t, days.Fills)
			return result.Transcript() + days.Transcript()
		}
		want := run(bot.Store(db, interval, m.Name))
		require.Equal(t, want, run(bot.Candles(m, list), bot.Interval(interval)))
		require.Equal(t, want, run(bot.CSV(m.Name, market.Interval1h, file), bot.Interval(interval)))
		require.Equal(t, want, run(bot.Candles(fine(m, list)), bot.Interval(interval)))
	}
}

// fine are the same candles with three more decimals, which are zero.
func fine(m market.Market, list []market.Candle) (market.Market, []market.Candle) {
	finer := make([]market.Candle, len(list))
	for i, c := range list {
		c.Open, c.High, c.Low, c.Close = c.Open*1000, c.High*1000, c.Low*1000, c.Close*1000
		finer[i] = c
	}
	m.PriceDigits += 3
	return m, finer
}

func TestBarsAreReadLineByLine(t *testing.T) {
	lines := "100 103 99 102 5  # a comment\n\n 102 102 101 101\n" + strings.Repeat("101 101 101 101\n", 3)
	result, err := bot.Backtest(t.Context(), shipped.SMACross, pair, bot.Bars("BTC-EUR", market.Interval1h, lines))
	require.NoError(t, err)
	require.Equal(t, []backtest.DataInfo{{Market: "BTC-EUR", Interval: "1h", Candles: 5}}, result.Data)
	require.Equal(t, "0.01", result.Rules[0].TickSize)
}

func TestTwoMarketsShareTheCash(t *testing.T) {
	result, err := bot.Backtest(t.Context(), shipped.SMACross, pair,
		bot.Set("strategies.smacross.params.share", "0.4"),
		bot.Closes("BTC-EUR", market.Interval1h, waves), bot.Closes("ETH-EUR", market.Interval1h, waves))
	require.NoError(t, err)
	require.Equal(t, []string{"BTC-EUR", "ETH-EUR"}, result.Strategies[0].Markets)
	require.Len(t, result.Fills, 4)
}

// Members of given candles are those of a store with the same candles, which names no market.
func TestAUniverseRanksGivenCandlesAndAStoreAlike(t *testing.T) {
	store := filepath.Join(t.TempDir(), "candles.db")
	db, err := candles.Open(store)
	require.NoError(t, err)
	options := []bot.Option{bot.Universe("volume7d", 2), bot.Set("strategies.smacross.universe.min_days", "1")}
	given := options
	for i, name := range []string{"A-EUR", "B-EUR", "C-EUR"} {
		list := make([]market.Candle, 40)
		for day := range list {
			price := market.Price(100_01 + 20_00*((day*(i+3)/5)%4))
			list[day] = market.Candle{Start: candles.DayStart(19_723 + int64(day)), Interval: market.Interval1d,
				Open: price,
				High: price, Low: price, Close: price, Volume: market.Volume(1 + day*(i+1)%17)}
		}
		_, err := db.Put(candles.WriteOptions{Market: name, Interval: market.Interval1d}, list, 2, 0, nil)
		require.NoError(t, err)
		given = append(given, bot.Candles(market.Market{Name: name, PriceDigits: 2}, list))
	}
	require.NoError(t, db.Close())
	one, err := bot.Backtest(t.Context(), shipped.SMACross, pair, given...)
	require.NoError(t, err)
	two, err := bot.Backtest(t.Context(), shipped.SMACross, pair,
		append(options[:2:2], bot.Store(store, market.Interval1d))...)
	require.NoError(t, err)
	require.NotEmpty(t, one.Fills)
	require.Equal(t, one.Fills, two.Fills)
	require.Equal(t, one.Universes, two.Universes)
	require.Greater(t, one.Universes[0].Changes, 3)
}

func TestOptionsOfTheSyntheticMarket(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	result, err := bot.Backtest(t.Context(), shipped.SMACross, nil, bot.Between("2021-03-01", "2021-06-01"),
		bot.Cash("500"), bot.Fees("0%", "0%"), bot.Interval(market.Interval4h), bot.Out(out),
		bot.Set("backtest.path", "pessimistic"))
	require.NoError(t, err)
	require.True(t, result.Synthetic)
	require.Equal(t, "2021-03-01", result.From.Date())
	require.Zero(t, result.Performance.Start.Cmp("500"))
	require.Zero(t, result.Performance.Fees.Cmp("0"))
	require.Equal(t, "4h", result.Strategies[0].Interval)
	require.FileExists(t, filepath.Join(out, "report.html"))
}

// The typed trades and fills are the rows of the files.
func TestTradesAndFillsAreTheRowsOfTheFiles(t *testing.T) {
	out := t.TempDir()
	result, err := bot.Backtest(t.Context(), shipped.Breakout, nil, bot.Out(out),
		bot.Between("2021-03-01", "2021-09-01"))
	require.NoError(t, err)
	trades, fills := rows(t, out, "trades.csv"), rows(t, out, "fills.csv")
	require.Len(t, result.Trades, len(trades))
	require.Len(t, result.Fills, len(fills))
	require.NotEmpty(t, trades)
	require.EqualValues(t, len(trades), result.Trips.Count)
	for i, row := range trades {
		trade := &result.Trades[i]
		require.Equal(t, []string{trade.Market, fmt.Sprint(trade.Entered.Millis()), fmt.Sprint(trade.Exited.Millis()),
			trade.Reason}, []string{row[0], row[2], row[4], row[9]})
		for column, have := range map[int]backtest.Amount{3: trade.Entry, 5: trade.Exit, 6: trade.Amount} {
			require.Zero(t, have.Cmp(row[column]), "trade %d: %s is not %s", i, have, row[column])
		}
		for column, have := range map[int]backtest.Amount{7: trade.Fees, 8: trade.Profit} {
			exact, err := strconv.ParseFloat(row[column], 64)
			require.NoError(t, err)
			require.InDelta(t, exact, have.Float(), 0.00501)
		}
	}
	for i, row := range fills {
		fill := &result.Fills[i]
		require.Equal(t, []string{fmt.Sprint(fill.Time.Millis()), fill.Market, fill.Side.String(),
			fmt.Sprint(fill.Taker)},
			[]string{row[0], row[1], row[5], row[11]})
		require.Zero(t, fill.Price.Cmp(row[6]))
		require.Zero(t, fill.Amount.Cmp(row[7]))
	}
}

// rows are the rows of a result file without the header.
func rows(t *testing.T, dir, file string) [][]string {
	all, err := csv.NewReader(strings.NewReader(read(t, dir, file))).ReadAll()
	require.NoError(t, err)
	return all[1:]
}

// faulty panics on its third candle.
type faulty struct {
	strategy.Base
	seen int
}

func (f *faulty) OnCandle(*strategy.Desk, market.Candle) {
	if f.seen++; f.seen == 3 {
		panic("out of ideas")
	}
}

func TestAHaltedStrategyIsAnErrorWithItsStack(t *testing.T) {
	definition := strategy.Define("faulty", "panics", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &faulty{}, nil })
	result, err := bot.Backtest(t.Context(), definition, nil, bot.Closes("BTC-EUR", market.Interval1h, waves))
	require.ErrorContains(t, err, "strategy faulty was halted at 2024-01-01T03:00:00Z: panic: out of ideas")
	require.ErrorContains(t, err, "quick_test.go:")
	require.NotNil(t, result)
}

func TestTheLogOfATestHasRefusals(t *testing.T) {
	var log bytes.Buffer
	_, err := bot.Backtest(t.Context(), shipped.SMACross, pair, bot.Closes("BTC-EUR", market.Interval1h, waves),
		bot.Set("risk.max_order_value", "10"), bot.Log(&log))
	require.NoError(t, err)
	require.Contains(t, log.String(), "max_order_value")
}

func TestAnOptionThatCannotBeNamesItself(t *testing.T) {
	closes := func(prices string) bot.Option { return bot.Closes("BTC-EUR", market.Interval1h, prices) }
	good := closes(waves)
	for _, c := range []struct {
		want string
		with []bot.Option
	}{
		{`bot.Backtest: option 1 is zero`, []bot.Option{{}}},
		{`bot.Closes("BTC-EUR", 1h): price 2: "1o1" is no decimal`, []bot.Option{closes("100 1o1")}},
		{`bot.Closes("BTC-EUR", 1h): price 2, -3: a price is above 0`, []bot.Option{closes("100 -3")}},
		{`bot.Closes("BTC-EUR", 1h): candles of BTC-EUR 1h: there are none`, []bot.Option{closes("")}},
		{`bot.Closes("BTC-EUR", 1h): candles of BTC-EUR 1h are given twice; join them`, []bot.Option{good, good}},
		{`bot.Closes("BTCEUR", 1h): candles of BTCEUR 1h: market "BTCEUR" is not of the form BASE-QUOTE`,
			[]bot.Option{bot.Closes("BTCEUR", market.Interval1h, waves)}},
		{`bot.Bars("BTC-EUR", 1h): line 4 has 2 numbers; want open, high, low, close`,
			[]bot.Option{bot.Bars("BTC-EUR", market.Interval1h, "1 1 1 1\n\n1 1 1 1\n1 1")}},
		{"bot.Bars(\"BTC-EUR\", 1h): 1 bad rows\n  line 3: high 90 is below low 95",
			[]bot.Option{bot.Bars("BTC-EUR", market.Interval1h, "1 1 1 1\n\n100 90 95 97")}},
		{`bot.CSV("BTC-EUR", 1h, "none.csv"): open none.csv`,
			[]bot.Option{bot.CSV("BTC-EUR", market.Interval1h, "none.csv")}},
		{`bot.Candles("BTC-EUR"): there are no candles`,
			[]bot.Option{bot.Candles(market.Market{Name: "BTC-EUR"}, nil)}},
		{`none.db is not there; import candles with: bot candles import --db none.db --market BTC-EUR`,
			[]bot.Option{bot.Store("none.db", market.Interval1h, "BTC-EUR")}},
		{`bot.Store("none.db", 1h): no market is named`, []bot.Option{bot.Store("none.db", market.Interval1h)}},
		{`bot.Universe("volume2d", 1): strategies.smacross.universe.rank: "volume2d" is not one of volume30d`,
			[]bot.Option{good, bot.Universe("volume2d", 1)}},
		{`bot.Universe("volume1d", 1): there are no candles to rank by`, []bot.Option{bot.Universe("volume1d", 1)}},
		{`a run has one source`, []bot.Option{good, bot.Store("none.db", market.Interval1h, "BTC-EUR")}},
		{`bot.Cash("much"): account.start.EUR: "much": not a decimal number`, []bot.Option{good, bot.Cash("much")}},
		{`bot.Fees("x", "0.2%"): "x" is no rate; want one like "0.15%"`, []bot.Option{bot.Fees("x", "0.2%")}},
		{`bot.Fees("0.15", "0.25%"): account.maker_fee: 0.15 would be 15% of each fill; write "0.15%" if it is in percent, or ` +
			`"15%" if you mean that much`, []bot.Option{bot.Fees("0.15", "0.25%")}},
		{`bot.Between("soon", ""): backtest.from: "soon" is no time`, []bot.Option{good, bot.Between("soon", "")}},
		{`BTC-EUR 1h has candles from 2024-01-01T00:00:00Z to 2024-01-01T15:00:00Z; choose bot.Between inside`,
			[]bot.Option{good, bot.Between("2020-01-01", "2021-01-01")}},
		{`bot.Set("fats.x", "1"): fats: unknown key; the nearest is "data"`,
			[]bot.Option{good, bot.Set("fats.x", "1")}},
		{`no candles stored for BTC-EUR 1m, and no shorter ones to merge; give them`,
			[]bot.Option{good, bot.Interval(market.Interval1m)}},
		{`bot.Backtest: strategies.smacross.markets: BTC-USD is not quoted in EUR`,
			[]bot.Option{good, bot.Closes("BTC-USD", market.Interval1h, waves)}},
	} {
		_, err := bot.Backtest(t.Context(), shipped.SMACross, nil, c.with...)
		require.ErrorContains(t, err, c.want)
	}
	_, err := bot.Backtest(t.Context(), shipped.SMACross, map[string]any{"fats": 20}, good)
	require.ErrorContains(t, err, `bot.Backtest: parameter fats: strategy smacross: unknown parameter`)
	_, err = bot.Backtest(t.Context(), shipped.SMACross, map[string]any{"fats": 20})
	require.ErrorContains(t, err, `bot.Backtest: parameter fats: strategy smacross: unknown parameter`)
	require.NotContains(t, err.Error(), "config")
	_, err = bot.Backtest(t.Context(), shipped.SMACross, map[string]any{"fast": -20})
	require.ErrorContains(t, err, `bot.Backtest: parameter fast: strategy smacross: `)
}

func ExampleCloses() {
	result, err := bot.Backtest(context.Background(), shipped.SMACross, map[string]any{"fast": 2, "slow": 4},
		bot.Closes("BTC-EUR", market.Interval1h, "100 90 80 70 85 99 110 90 80 70"), bot.Cash("1000"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, trade := range result.Trades {
		fmt.Printf("bought at %s, sold at %s: %s %s\n", trade.Entry, trade.Exit, trade.Profit, result.Currency)
	}
	fmt.Println("deeper than 20 %:", result.Performance.Drawdown.Depth.Rate() > 20*market.Percent)
	// Output:
	// bought at 99, sold at 80: -194.48 EUR
	// deeper than 20 %: true
}
