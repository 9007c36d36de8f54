package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// skipped are rules that Skip looks at in different ways, and the part of the candles that it uses
// at least.
var skipped = []struct {
	part   float64
	values map[string]any
}{
	{0.8, map[string]any{"rules.entry": "sma(10) crosses above sma(30)",
		"rules.exit": "sma(10) crosses below sma(30)"}},
	{0.5, map[string]any{"rules.entry": "close > sma(50)", "rules.exit": "close < sma(50) * 0.99"}},
	{0.5, map[string]any{"rules.entry": "close > sma(50) and rsi(14) < 45 and volume > 0",
		"rules.exit": "rsi(14) > 60"}},
	{0.2, map[string]any{"rules.entry": "rsi(14) < 40", "rules.stop": "2%", "rules.target": "close + 2 * atr(14)"}},
	{0.5, map[string]any{"rules.entry": "close > ema(20)", "rules.exit_after": int64(9), "rules.cooldown": int64(5),
		"rules.exit": "rsi(5) > 90"}},
	{0.5, map[string]any{"rules.entry": "bars_since_exit > 6 and close > ema(10)",
		"rules.exit": "profit > 2 or bars_since_entry >= 20 or close < highest_since_entry * 0.97"}},
	{0.2, map[string]any{"rules.entry": "close < low[1]", "rules.exit": "profit > 1 and close > lowest_since_entry",
		"rules.add": int64(3), "rules.size": "10% equity"}},
	{0.1, map[string]any{"rules.entry": "close > highest(high, 20)[1]", "rules.raise": "close - 3 * atr(14)"}},
	{0.2, map[string]any{"rules.entry": "rsi(14) < 50", "rules.at": "close * 0.995", "rules.exit": "rsi(14) > 60"}},
	{0.8, map[string]any{"rules.entry": "hour == 3", "rules.exit": "hour == 20", "rules.size": "6 quote"}},
	{0, map[string]any{"rules.entry": "log(close / open - 1) > -7", "rules.exit": "log(open / close - 1) > -7"}},
	{0, map[string]any{"rules.entry": "close > open and cash > 10", "rules.exit": "close < open"}},
	{0.01, map[string]any{"rules.entry": "close < sma(20)", "rules.trail": "2 * atr(14)",
		"rules.exit": "in_position and na(entry_price)"}},
}

// Rules with Skip have the results of rules without it, to the last note.
func TestSkipChangesNoResult(t *testing.T) {
	for _, one := range skipped {
		t.Run(one.values["rules.entry"].(string), func(t *testing.T) {
			used, fills, notes := 0, 0, []string(nil)
			for seed := range uint64(3) {
				result := func(counter *int) *backtest.Result {
					needs, err := rules.Definition.Needs(one.values)
					require.NoError(t, err)
					kind := strategy.Define("rules", "with or without Skip",
						func(struct{}) strategy.Needs { return needs },
						func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
							made, err := rules.Definition.New(one.values, s)
							require.NoError(t, err)
							return rules.Skipping(made, counter), nil
						})
					r, err := bot.Backtest(t.Context(), kind, nil, bot.Candles(market.Market{Name: "BTC-EUR",
						PriceDigits: 2, VolumeDigits: 4}, wandering(seed+1)), bot.Between("2021-02-08", ""))
					require.NoError(t, err)
					return r
				}
				want := result(nil)
				require.True(t, fmt.Sprint(*want) == fmt.Sprint(*result(&used)), "seed %d", seed)
				fills += len(want.Fills)
				notes = want.Strategies[0].Notes
			}
			require.Greater(t, fills, 10)
			require.True(t, !strings.Contains(one.values["rules.entry"].(string), " and ") ||
				strings.Contains(fmt.Sprint(notes), " alone at "), notes)
			t.Logf("Skip used %d of %d candles, %d fills", used, 3*1488, fills)
			require.GreaterOrEqual(t, float64(used), one.part*3*1488)
		})
	}
}

// The asks are the same, candle by candle, in blocks of any length.
func TestSkipAsksWhatOnCandleAsks(t *testing.T) {
	for _, one := range skipped {
		err := strategytest.CheckSkip(func(b *strategytest.Bench) strategy.Strategy {
			b.Market("BTC-EUR", 2, 8, 1_000_000_00)
			s, err := rules.Definition.New(one.values, b.Setup(market.Interval1h))
			require.NoError(t, err)
			return s
		}, marked(wandering(9)))
		require.NoError(t, err, one.values["rules.entry"])
	}
}

// marked are the candles of the first market of a bench.
func marked(list []market.Candle) []market.Candle {
	for i := range list {
		list[i].Market = 1
	}
	return list
}
