package bot_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/walkforward"
	"github.com/tidemark-trading/tidemark/strategy"
)

type alwaysGuardedParams struct {
	Far  int64 `toml:"far" default:"5" doc:"of the stop, in percent"`
	Idle int64 `toml:"idle" default:"1" doc:"without effect"`
}

// alwaysGuarded buys on the candles of its own interval where it holds nothing, with a stop.
type alwaysGuarded struct {
	strategy.Base
	far      market.Rate
	interval market.Interval
}

func (s *alwaysGuarded) OnCandle(d *strategy.Desk, c market.Candle) {
	if m := d.In(c.Market); c.Interval == s.interval && m.Flat() {
		m.Buy(strategy.CashShare(50*market.Percent), strategy.StopAt(c.Close.Below(s.far*market.Percent)))
	}
}

// TestASearchMovesByTheCandleThatFinerOnesHide trades hours, minutes beside hours, and hours beside
// five minutes with a hole: in a backtest, a sweep and a walk-forward each stop that an hour passes
// sells in it, and all three warn.
func TestASearchMovesByTheCandleThatFinerOnesHide(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	const days = 12
	begin := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	dips := func(hour int) bool { return hour%11 == 7 }
	row := func(minute int, low string) string {
		at := begin.Add(time.Duration(minute) * time.Minute)
		return fmt.Sprintf("%s,100,100,%s,99,1\n", at.Format(time.RFC3339), low)
	}
	const head = "time,open,high,low,close,volume\n"
	hours, fives, minutes := head, head, head
	for m := range days * 24 * 60 {
		dip := dips(m / 60)
		if m%60 == 0 {
			hours += row(m, map[bool]string{true: "80", false: "99"}[dip])
		}
		if m%5 == 0 && !dip {
			fives += row(m, "99")
		}
		if !dip || m%60 < 20 || m%60 > 27 {
			minutes += row(m, "99")
		}
	}
	dir := t.TempDir()
	say := func(definition strategy.Definition, args ...string) string {
		var out, errs strings.Builder
		code := bot.Run(t.Context(), bot.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Getenv: func(string) string { return "" }, Definitions: []strategy.Definition{definition}})
		require.Zero(t, code, "%s: %s", args, errs.String())
		return out.String()
	}
	db := filepath.Join(dir, "candles.db")
	for interval, text := range map[string]string{"1h": hours, "5m": fives, "1m": minutes} {
		file := filepath.Join(dir, interval+".csv")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		code, _, errs := call(t.Context(), "candles", "import", "--db", db, "--market", "BTC-EUR", "--interval",
			interval, file)
		require.Zero(t, code, errs)
	}
	for _, c := range []struct {
		interval market.Interval
		needs    strategy.Intervals
	}{
		{market.Interval1h, nil},
		{market.Interval1m, strategy.Intervals{market.Interval1h: 0}},
		{market.Interval1h, strategy.Intervals{market.Interval5m: 0}},
		{market.Interval5m, strategy.Intervals{market.Interval1h: 0}},
	} {
		about := fmt.Sprintf("strategy on %s, needs %v", c.interval, c.needs)
		kind := strategy.Define("guarded", "buys with a stop", func(alwaysGuardedParams) strategy.Needs {
			return strategy.Needs{Intervals: c.needs}
		}, func(p alwaysGuardedParams, _ strategy.Setup) (strategy.Strategy, error) {
			return &alwaysGuarded{far: market.Rate(p.Far), interval: c.interval}, nil
		})
		file := filepath.Join(dir, fmt.Sprint(c.interval, len(c.needs), ".toml"))
		text := fmt.Sprintf("data.candles = %q\naccount.start.EUR = \"100000\"\n[backtest]\npath_interval = \"1m\"\n"+
			"[strategies.own]\nkind = \"guarded\"\nmarkets = [\"BTC-EUR\"]\ninterval = %q\n", db, c.interval)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		vary := []string{"-c", file, "--vary", "strategies.own.params.far=5,10", "--json"}
		run := func(out string, args ...string) (r backtest.Result) {
			args = append([]string{"backtest", "-c", file, "--json", "--out", out}, args...)
			require.NoError(t, json.Unmarshal([]byte(say(kind, args...)), &r))
			require.Contains(t, strings.Join(r.Warnings, "\n"), " candles hide prices of ", about)
			return r
		}
		var o research.Outcome
		require.NoError(t, json.Unmarshal([]byte(say(kind, append([]string{"sweep", "--objective", "return", "--out",
			file + ".sweep"}, vary...)...)), &o))
		require.Contains(t, strings.Join(o.DataWarnings, "\n"), " candles hide prices of ", about)
		page, err := os.ReadFile(file + ".html")
		require.NoError(t, err)
		require.Contains(t, string(page), "candles hide prices of", about)
		for _, set := range o.Top {
			out := filepath.Join(dir, "out")
			r := run(out, "--set", set.Settings[0].Key+"="+set.Settings[0].Value)
			for i, want := range research.FiguresOf(&r) {
				require.InDelta(t, want, float64(set.Figures[i].Value), 0, "%s: %s", about, set.Figures[i].Name)
			}
			fills, err := os.ReadFile(filepath.Join(out, "fills.csv"))
			require.NoError(t, err)
			var want []int
			for hour := range days * 24 {
				if dips(hour) {
					want = append(want, hour)
				}
			}
			require.Equal(t, want, sales(t, string(fills), begin), about)
		}
		var w walkforward.Result
		dirOfWalk := file + ".walk"
		require.NoError(t, json.Unmarshal([]byte(say(kind, "walkforward", "-c", file, "--vary",
			"strategies.own.params.idle=1,2", "--train", "5d", "--test", "3d", "--objective", "return", "--out",
			dirOfWalk, "--json")), &w))
		require.Contains(t, strings.Join(w.DataWarnings, "\n"), " candles hide prices of ", about)
		stitched, err := os.ReadFile(filepath.Join(dirOfWalk, "fills.csv"))
		require.NoError(t, err)
		plain := filepath.Join(dir, "plain")
		run(plain, "--from", w.Stitched.From.String())
		fills, err := os.ReadFile(filepath.Join(plain, "fills.csv"))
		require.NoError(t, err)
		require.Equal(t, string(fills), string(stitched), about)
	}
}

// sales are the hours, from the beginning on, in which fills.csv sells.
func sales(t *testing.T, fills string, begin time.Time) (hours []int) {
	rows, err := csv.NewReader(strings.NewReader(fills)).ReadAll()
	require.NoError(t, err)
	for _, row := range rows {
		if slices.Contains(row, "sell") {
			at, err := strconv.ParseInt(row[0], 10, 64)
			require.NoError(t, err)
			hours = append(hours, int(time.UnixMilli(at).Sub(begin)/time.Hour))
		}
	}
	return hours
}
