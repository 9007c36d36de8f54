package bot_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// guarded buys once, with a stop 5 % below.
type guarded struct {
	strategy.Base
	bought bool
}

func (s *guarded) OnCandle(d *strategy.Desk, c market.Candle) {
	if m := d.In(c.Market); !s.bought {
		s.bought = true
		m.Buy(strategy.CashShare(50*market.Percent), strategy.StopAt(c.Close.Below(5*market.Percent)))
	}
}

// TestFinerCandlesHideNoPriceOfALongerOne leaves candles out of the finer series, in several ways:
// the stop that the hour passes always sells.
func TestFinerCandlesHideNoPriceOfALongerOne(t *testing.T) {
	t.Parallel()
	definition := strategy.Define("guarded", "buys once, with a stop", func(struct{}) strategy.Needs {
		return strategy.Needs{}
	}, func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &guarded{}, nil })
	begin := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	row := func(minute int, low string) string {
		at := begin.Add(time.Duration(minute) * time.Minute)
		return fmt.Sprintf("%s,100,100,%s,99,1\n", at.Format(time.RFC3339), low)
	}
	const head = "time,open,high,low,close,volume\n"
	hours := head + row(0, "99") + row(60, "80") + row(120, "99")
	for name, c := range map[string]struct {
		has    func(minute int) bool
		low    int // the minute of the hour's low; -1: it is in a hole
		flags  []string
		hidden bool
	}{
		"none missing":        {func(int) bool { return true }, 85, nil, false},
		"eight missing":       {func(m int) bool { return m < 80 || m > 87 }, -1, nil, true},
		"a twentieth missing": {func(m int) bool { return m%20 != 5 }, -1, nil, true},
		"one of twelve kept":  {func(m int) bool { return m%12 == 0 || m == 179 }, -1, nil, true},
		"they are complete":   {func(m int) bool { return m < 80 || m > 87 }, -1, []string{"--complete"}, true},
		"they say otherwise":  {func(int) bool { return true }, -1, nil, true},
		"they end early":      {func(m int) bool { return m < 80 }, -1, nil, true},
	} {
		dir := t.TempDir()
		minutes := head
		for m := range 180 {
			low := "99"
			if m == c.low {
				low = "80"
			}
			if c.has(m) {
				minutes += row(m, low)
			}
		}
		db := filepath.Join(dir, "candles.db")
		for interval, text := range map[string]string{"1h": hours, "1m": minutes} {
			file := filepath.Join(dir, interval+".csv")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			args := []string{"candles", "import", "--db", db, "--market", "BTC-EUR", "--interval", interval, file}
			if interval == "1m" {
				args = append(args, c.flags...)
			}
			code, _, errs := call(t.Context(), args...)
			require.Zero(t, code, errs)
		}
		for _, path := range []string{config.PathAuto, "1m"} {
			text := fmt.Sprintf("data.candles = %q\naccount.maker_fee = \"0\"\naccount.taker_fee = \"0\"\n"+
				"[backtest]\npath_interval = %q\n[strategies.own]\nkind = \"guarded\"\nmarkets = [\"BTC-EUR\"]\n"+
				"interval = \"1h\"\n", db, path)
			file := filepath.Join(dir, "c.toml")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			var out, errs strings.Builder
			code := bot.Run(t.Context(), bot.Process{Args: []string{"backtest", "-c", file, "--json"},
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
				Definitions: []strategy.Definition{definition}})
			require.Zero(t, code, "%s: %s", name, errs.String())
			var r backtest.Result
			require.NoError(t, json.Unmarshal([]byte(out.String()), &r))
			require.Equal(t, "9696.96", r.Performance.Final.String(), "%s, %s", name, path)
			said := strings.Join(r.Warnings, "\n")
			require.Equal(t, c.hidden && !(name == "they end early" && path == config.PathAuto), strings.Contains(said,
				"BTC-EUR: 1m candles hide prices of "), "%s, %s: %s", name, path, said)
		}
		code, verified, errs := call(t.Context(), "candles", "verify", "--db", db)
		require.Zero(t, code, errs)
		require.Equal(t, c.hidden && name != "they end early", strings.Contains(verified, "1h candles have other "+
			"prices than their 1m candles; the first, of 2024-03-01T"), "%s: %s", name, verified)
	}
}
