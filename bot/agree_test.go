package bot

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// section is a strategy in a config.
func section(name, kind, markets, interval, rest string) string {
	return "[strategies." + name + "]\nkind = \"" + kind + "\"\nmarkets = [" + markets + "]\ninterval = \"" + interval + "\"\noperator_id = 7\n" + rest + "\n"
}

const (
	bitcoin = `"BTC-EUR"`
	both    = `"BTC-EUR", "ETH-EUR"`
)

var oftenPriced = "[poll]\ntickers = \"2s\"\n"

var agreements = map[string]play{
	"smacross":         {strategies: section("s", "smacross", both, "1m", `params = { fast = 3, slow = 8, share = "0.5" }`)},
	"breakout":         {strategies: section("s", "breakout", both, "1m", `params = { channel = 5, atr = 5, stop_atr = 1.5, target_atr = 2.0, share = "0.4", risk = "0" }`)},
	"breakout of 5m":   {longer: []market.Interval{market.Interval5m}, strategies: section("s", "breakout", bitcoin, "5m", `params = { channel = 2, atr = 2, stop_atr = 1.0, target_atr = 1.0, share = "0.9" }`)},
	"rsirevert":        {strategies: section("s", "rsirevert", both, "1m", `params = { period = 5, low = 40.0, high = 60.0, offset_bps = "5", target_bps = "10", expire = 3 }`)},
	"grid":             {strategies: section("s", "grid", both, "1m", `params = { levels = 3, spacing_bps = "12", recentre_bps = "30", money = "200" }`)},
	"dca":              {strategies: section("s", "dca", both, "1m", `params = { money = "25.55", every_candles = 3 }`)},
	"fickle":           {strategies: fickleSection("s", bitcoin, 1)},
	"maker on tickers": {quiet: true, strategies: section("s", "maker", both, "1m", `params = { book = false, half_spread_bps = "4", skew_bps = "2", move_bps = "3", money = "100", max_money = "500" }`)},
	"maker on books":   {quiet: true, backtest: "synthetic_book = true", strategies: section("s", "maker", bitcoin, "1m", `params = { half_spread_bps = "4", skew_bps = "2", move_bps = "3", money = "100", max_money = "500" }`)},
	"dca by the clock": {strategies: section("s", "dca", bitcoin, "1m", `params = { money = "25.55", every = "5m" }`)},
}

func TestEachStrategyTradesTheSameLiveAndInABacktest(t *testing.T) {
	for name, p := range agreements {
		if os.Getenv("ONLY") != "" && os.Getenv("ONLY") != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p.into = 10 * time.Second
			p.weather, p.minutes, p.live = weather{seed: 1, wicks: true}, 120, oftenPriced
			if p.quiet {
				p.hush()
			}
			if n := os.Getenv("SEED"); n != "" {
				k, _ := strconv.Atoi(n)
				p.seed = uint64(k)
			}
			live := p.agree(t)
			t.Log(name, live.counts)
		})
	}
}

func TestWarm(t *testing.T) {
	for _, start := range []struct {
		late  int
		into  time.Duration
		kills []time.Duration
	}{{0, 0, nil}, {7, time.Second, nil}, {13, 30 * time.Second, nil}, {26, 59960 * time.Millisecond, nil}, {4, 10 * time.Second, []time.Duration{3*time.Minute + 46*time.Second, 10*time.Minute + 48*time.Second}}} {
		for name, p := range agreements {
			if os.Getenv("ONLY") != "" && os.Getenv("ONLY") != name {
				continue
			}
			t.Run(fmt.Sprint(name, " ", start), func(t *testing.T) {
				p.late, p.into, p.kills = start.late, start.into, start.kills
				p.weather, p.minutes, p.live = weather{seed: 3, wicks: true}, 20, oftenPriced
				if p.quiet {
					p.hush()
				}
				live := p.agree(t)
				t.Log(name, live.counts)
			})
		}
	}
}

func TestPap(t *testing.T) {
	for name, p := range agreements {
		if os.Getenv("ONLY") != "" && os.Getenv("ONLY") != name || p.quiet {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p.paper = true
			p.into = 10 * time.Second
			p.weather, p.minutes, p.live = weather{seed: 4, wicks: true}, 60, oftenPriced
			live := p.agree(t)
			t.Log(name, live.counts)
		})
	}
}
