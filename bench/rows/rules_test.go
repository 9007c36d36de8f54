package rows

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
	"github.com/tidemark-trading/tidemark/strategy/rules"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// crossRules are smacross as rules that never buy: each ask is explained. threeRules are `three`.
var (
	crossRules = map[string]any{"fast": int64(20), "slow": int64(50), "rules.size": "99% cash",
		"rules.entry": "sma(fast) crosses above sma(slow) and volume < 0",
		"rules.exit":  "sma(fast) crosses below sma(slow)"}
	threeRules = map[string]any{"rules.entry": "rsi(14) < 5 and close > sma(50) and close - low > 0.5 * atr(14)",
		"rules.exit": "rsi(14) > 99"}
)

// three reads three indicators.
type three struct {
	strategy.Base
	rsi indicator.RSI
	sma indicator.SMA
	atr indicator.ATR
}

func (x *three) OnCandle(d *strategy.Desk, c market.Candle) {
	x.rsi.Push(c.Close)
	x.sma.Push(c.Close)
	x.atr.Push(c)
	rsi := x.rsi.Value()
	switch m := d.In(c.Market); {
	case !x.sma.Ready():
	case rsi > 99:
		_ = m.Close()
	case rsi < 5 && float64(c.Close) > x.sma.Value() && float64(c.Close-c.Low) > 0.5*x.atr.Value() && m.Flat():
		_, _ = m.Buy(strategy.CashShare(market.Whole))
	}
}

// rules measures strategies that stand in a config beside the same ones in Go.
func (t *table) rules() {
	n := float64(many())
	cross, _ := t.plan(many(), 1, shipped.SMACross)
	bare, _ := t.plan(many(), 1, plain)
	same, _ := t.plan(many(), 1, rules.Definition)
	inGo, _ := t.plan(many(), 1, define("three", func() strategy.Strategy {
		return &three{rsi: indicator.NewRSI(14), sma: indicator.NewSMA(50), atr: indicator.NewATR(14)}
	}))
	texts, _ := t.plan(many(), 1, rules.Definition)
	same.Strategies[0].Values, texts.Strategies[0].Values = crossRules, threeRules
	bare.Open, same.Open, inGo.Open, texts.Open = cross.Open, cross.Open, cross.Open, cross.Open
	took := t.least(func() { t.run(cross) }, func() { t.run(bare) }, func() { t.run(same) }, func() { t.run(inGo) },
		func() { t.run(texts) })
	for i := range took {
		took[i] /= n
	}
	t.adds("candle of rules, a cross of averages", fmt.Sprintf("Go %.3g ns, plain OnCandle %.3g", took[0], took[1]),
		took[0], took[2])
	t.adds("candle of rules, three indicators", fmt.Sprintf("Go %.3g ns", took[3]), took[3], took[4])
}

// adds prints a row of rules, whose goal is what they add to a candle of the same in Go.
func (t *table) adds(what, floor string, inGo, ours float64) {
	goal := "≤ +15 ns"
	if ours > inGo+15 {
		goal += " missed"
	}
	t.line(what, floor, fmt.Sprintf("%.4g ns", ours), fmt.Sprintf("%+.3g ns, %.2f×", ours-inGo, ours/inGo), goal)
}

// rulesSweep measures `bot sweep` of rules beside one of the same strategy in Go, with one worker.
func (t *table) rulesSweep() {
	sets, rounds := 1000, 3
	if testing.Short() {
		sets, rounds = 20, 1
	}
	folder, bot := t.b.TempDir(), t.program()
	const head = "data.source = \"synthetic\"\n[strategies.trend]\nmarkets = [\"BTC-EUR\"]\ninterval = \"1h\"\nkind = "
	configs := []string{head + "\"smacross\"\n", head + "\"rules\"\n[strategies.trend.params]\nfast = 20\nslow = 50\n" +
		"[strategies.trend.rules]\nsize = \"99% cash\"\nentry = \"sma(fast) crosses above sma(slow)\"\n" +
		"exit = \"sma(fast) crosses below sma(slow)\"\n"}
	least := make([]float64, len(configs))
	for round := range rounds {
		for i, text := range configs {
			config, file := filepath.Join(folder, fmt.Sprint(i, ".toml")), filepath.Join(folder, "rules.sweep")
			require.NoError(t.b, os.WriteFile(config, []byte(text), 0o644))
			_, used, _ := t.sweepOnce(folder, file, []string{bot, "sweep", "-c", config, "--json", "--method", "random",
				"--sets", strconv.Itoa(sets), "--workers", "1", "--out", file, "--vary",
				"strategies.trend.params.fast=5:250:5", "--vary", "strategies.trend.params.slow=260:500:10"})
			if round == 0 || used < least[i] {
				least[i] = used
			}
		}
	}
	t.compare(fmt.Sprintf("bot sweep of rules, %d sets × 26,000 candles, CPU", sets), "the same in Go", least[0],
		least[1], "ms", 2)
}
