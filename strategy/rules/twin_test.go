package rules_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// twins are shipped strategies, and what they are as rules. The others are not: rsirevert sells by
// limit orders that move, grid and maker keep several orders at rest, accumulate follows the bid,
// rotation holds a portfolio. trendfilter sees a day from the next hour on, rules at once: at
// midnight its twin reads the day before. breakout's risk counts no fees, so it is left out. Where
// the Go rounds a level to a cent first, its twin keeps a cent away from the level. The made-up
// candles lack some: dca then buys an hour later, its twin not on that day.
var twins = []struct {
	kind      strategy.Definition
	own, twin map[string]any
}{
	{shipped.SMACross, map[string]any{"fast": int64(10), "slow": int64(30)},
		map[string]any{"rules.entry": "sma(10) crosses above sma(30)", "rules.exit": "sma(10) crosses below sma(30)",
			"rules.size": "99% cash"}},
	{shipped.TrendFilter, map[string]any{"fast": int64(6), "slow": int64(24), "days": int64(5)},
		map[string]any{"rules.let.rose": `close("1d") - 0.01 >= ema(5, "1d")`,
			"rules.let.holds": "(hour == 0 and rose[1] or hour > 0 and rose) and ema(6) > ema(24)",
			"rules.entry":     "holds", "rules.exit": "not holds"}},
	{shipped.BandRevert, map[string]any{"closes": int64(24), "width": 2.0, "gain": "2%"},
		map[string]any{"rules.let.below": "close + 0.01 <= bb(24, 2).lower", "rules.entry": "below and not below[1] " +
			"and close + 0.01 <= sma(24) * 0.98", "rules.exit": "close >= sma(24)", "rules.size": "up to 1% risk",
			"rules.stop": "close - 3 * atr(14)", "rules.trail": "3 * atr(14)"}},
	{shipped.DCA, map[string]any{"money": "25"},
		map[string]any{"rules.entry": "hour == 1", "rules.exit": "false", "rules.size": "25 quote",
			"rules.add": int64(1_000_000)}},
	{shipped.Breakout, map[string]any{"risk": "0%", "target_atr": 4.0},
		map[string]any{"rules.entry": "close > highest(high, 20)[1]", "rules.raise": "close - 3 * atr(14)",
			"rules.target": "close + 4 * atr(14)"}},
}

// Five shipped strategies as rules make the same fills to the last unit, on made-up and on random
// candles.
func TestRulesTradeAsTheirTwinsInGo(t *testing.T) {
	for _, one := range twins {
		t.Run(one.kind.Name, func(t *testing.T) {
			for seed := range uint64(4) {
				if seed == 0 && one.kind.Name == shipped.DCA.Name {
					continue
				}
				with := []bot.Option{bot.Between("2021-03-01", "2021-12-01")}
				if seed > 0 {
					with = []bot.Option{bot.Candles(market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 4},
						wandering(seed)), bot.Between("2021-02-08", "")}
				}
				fills := func(kind strategy.Definition, values map[string]any) (all []string) {
					r, err := bot.Backtest(t.Context(), kind, values, with...)
					require.NoError(t, err)
					for _, f := range r.Fills {
						all = append(all, fmt.Sprint(f.Time, f.Side, f.Amount, f.Price, f.Fee))
					}
					return all
				}
				want := fills(one.kind, one.own)
				require.Greater(t, len(want), 20, "seed %d", seed)
				require.Equal(t, want, fills(rules.Definition, one.twin), "seed %d", seed)
			}
		})
	}
}

// wandering is a hundred days of hours that wander.
func wandering(seed uint64) (list []market.Candle) {
	r, price := rand.New(rand.NewPCG(seed, 1)), 20_000_00.0
	hour := market.Time(market.Interval1h.Fixed())
	for i := range 2400 {
		open := price
		price *= 1 + 0.006*r.NormFloat64()
		reach := 20_00 + r.Float64()*60_00
		list = append(list, market.Candle{Interval: market.Interval1h,
			Start: 1_609_459_200_000_000_000 + market.Time(i)*hour,
			Open:  market.Price(open), High: market.Price(max(open, price) + reach),
			Low: market.Price(min(open, price) - reach), Close: market.Price(price), Volume: 10_0000})
	}
	return list
}
