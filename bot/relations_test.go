package bot_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// Relations between two runs of the command: no value is expected, one is held against another.

var worlds = flag.Int("worlds", 3, "play the relation of finer and longer candles in so many worlds")

// M1: neither the zone of the machine, nor its language, nor its cores change a byte of a result.
func TestAMachineChangesNoByteOfAResult(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := rangeStore(t)
	var want string
	for _, env := range [][]string{{}, {"TZ=Asia/Kathmandu", "LANG=de_DE.UTF-8", "LC_ALL=de_DE.UTF-8", "GOMAXPROCS=1"},
		{"TZ=America/St_Johns", "LANG=C", "GOMAXPROCS=7", "GOGC=10"}} {
		var all string
		for _, args := range [][]string{{"backtest", "-c", "c.toml", "--json"}, {"sweep", "-c", "c.toml", "--vary",
			"strategies.a.params.fast=10,20,30", "--vary", "strategies.a.params.slow=60,200", "--json"}} {
			cmd := bottest.Short(t, bottest.Program(t), args...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
			out, err := cmd.Output()
			require.NoError(t, err, string(out))
			all += string(out)
		}
		if want == "" {
			want = all
		}
		require.Equal(t, want, all, "%s", env)
	}
}

// M6: a moment is the same, however it is written.
func TestAMomentIsTheSameHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	run := func(from, to string) string {
		result, err := bot.Backtest(t.Context(), shipped.SMACross, nil, bot.Between(from, to))
		require.NoError(t, err)
		require.NotEmpty(t, result.Fills)
		return result.Transcript()
	}
	want := run("2022-03", "2022-07-01")
	for _, from := range []string{"2022-03-01", "2022-03-01T00:00:00Z", "2022-03-01T05:45:00+05:45", "1646092800000"} {
		require.Equal(t, want, run(from, "2022-07"), from)
	}
	require.Equal(t, want, run("2022-03", "2022-06-30T20:30:00-03:30"))
}

// M16: where no touch misses, a price that only touches an order fills it.
func TestTouchesThatNeverMissAreLimitFillTouch(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	for _, kind := range []strategy.Definition{shipped.Grid, shipped.Breakout} {
		run := func(with ...bot.Option) string {
			result, err := bot.Backtest(t.Context(), kind, nil, append(with, bot.Between("2022-03", "2022-07"))...)
			require.NoError(t, err)
			require.NotEmpty(t, result.Fills)
			return result.Transcript()
		}
		want := run(bot.Set("backtest.limit_fill", "touch"))
		require.Equal(t, want, run())
		require.Equal(t, want, run(bot.Set("backtest.fill_probability", "1")))
		require.Equal(t, want, run(bot.Set("backtest.fill_probability", "100%")))
	}
}

// rungs places buys below and sells above the price at its first candle, and waits.
type rungs struct {
	strategy.Base
	placed bool
}

const rungsOfASide = 12

// rung is the price of a buy, or of a sell, so many steps away.
func rung(close market.Price, k int) market.Price { return close + close*market.Price(k)/500 }

func (s *rungs) OnCandle(d *strategy.Desk, c market.Candle) {
	if s.placed {
		return
	}
	s.placed = true
	for k := 1; k <= rungsOfASide; k++ {
		_, _ = d.In(c.Market).Buy(strategy.Amount(20_000_000), strategy.At(rung(c.Close, -k)),
			strategy.Tag(strconv.Itoa(-k)))
		_, _ = d.In(c.Market).Sell(strategy.Amount(20_000_000), strategy.At(rung(c.Close, k)),
			strategy.Tag(strconv.Itoa(k)))
	}
}

// M21: whatever finer candles are missing, no order rests while a longer candle that the run reads
// reaches it.
func TestNoOrderRestsWhileALongerCandleReachesIt(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	needs := strategy.Needs{Intervals: strategy.Intervals{market.Interval1h: 0}}
	kind := strategy.Define("rungs", "for a test", func(struct{}) strategy.Needs { return needs },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &rungs{}, nil })
	m := market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 4}
	for seed := range uint64(*worlds) {
		r := rand.New(rand.NewPCG(seed, 21))
		g, err := synthetic.New(synthetic.Config{Seed: seed, Market: &m, Interval: market.Interval1m,
			Start: 1640995200_000_000_000, First: 100_00, Volume: 1e8, DailyVolatility: 0.1, GapChance: -1})
		require.NoError(t, err)
		minutes, hours := make([]market.Candle, 60*50), []market.Candle(nil)
		for i := range minutes {
			g.Next(&minutes[i])
			c := minutes[i]
			if i%60 == 0 {
				c.Interval = market.Interval1h
				hours = append(hours, c)
				continue
			}
			h := &hours[len(hours)-1]
			h.High, h.Low, h.Close = max(h.High, c.High), min(h.Low, c.Low), c.Close
		}
		day := r.IntN(len(minutes) / 2)
		for _, missing := range []struct {
			name string
			is   func(i int) bool
		}{
			{"none", func(int) bool { return false }},
			{"a half", func(i int) bool { return i%2 == 1 }},
			{"a day", func(i int) bool { return day < i && i < day+1440 }},
			{"the end", func(i int) bool { return i > 1000 }},
			{"a twentieth", func(int) bool { return r.IntN(20) == 0 }},
			{"eleven of twelve", func(i int) bool { return i%12 != 0 }},
			{"most", func(int) bool { return r.IntN(50) > 0 }},
		} {
			var kept []market.Candle
			for i, c := range minutes {
				if i == 0 || !missing.is(i) {
					kept = append(kept, c)
				}
			}
			for _, c := range []struct {
				path     string
				interval market.Interval
				first    market.Price // close of the candle on which the orders are decided
			}{{"auto", market.Interval1h, hours[0].Close}, {"1m", market.Interval1h, hours[0].Close},
				{"1m", market.Interval1m, kept[0].Close}} {
				about := fmt.Sprintf("seed %d, %s missing, path %s, strategy on %s", seed, missing.name, c.path,
					c.interval)
				result, err := bot.Backtest(t.Context(), kind, nil, bot.Candles(m, hours), bot.Candles(m, kept),
					bot.Interval(c.interval), bot.Set("backtest.path_interval", c.path),
					bot.Set("backtest.limit_fill", "touch"), bot.Set("account.start.BTC", "5"),
					bot.Set("account.start.EUR", "10000"))
				require.NoError(t, err, about)
				filled := map[string]market.Time{}
				for _, f := range result.Fills {
					filled[f.Tag] = f.Time
				}
				for k := -rungsOfASide; k <= rungsOfASide; k++ {
					reached := slices.IndexFunc(hours[1:], func(h market.Candle) bool {
						return k < 0 && h.Low <= rung(c.first, k) || k > 0 && h.High >= rung(c.first, k)
					})
					at := filled[strconv.Itoa(k)]
					if inFirst := 0 < at && at <= hours[0].End(); inFirst && c.interval == market.Interval1m {
						continue // by the minutes of the hour in which it was placed
					}
					if reached < 0 || k == 0 {
						require.Zero(t, at, "%s, rung %d", about, k)
						continue
					}
					h := hours[1+reached]
					require.True(t, h.Start <= at && at <= h.End(), "%s, rung %d: filled at %s, reached in %s", about,
						k, at, h.Start)
				}
			}
		}
	}
}
