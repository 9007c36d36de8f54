package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
)

// A backtest says from which orders its assumptions are, and which of them are no longer measured.
func TestABacktestSaysWhereItsAssumptionsComeFrom(t *testing.T) {
	const settings = `strategies.trend.kind = "smacross"
strategies.trend.markets = ["BTC-EUR"]
strategies.trend.interval = "1h"
[backtest]
half_spread_bps = "1.93"
slippage_bps = "0.4100"
latency = "47ms"
`
	const measured = "[backtest.measured]\norders = 412\nfrom = 2026-10-24\nto = 2026-11-23\nhalf_spread_bps = " +
		"\"1.93\"\n" +
		"slippage_bps = \"0.41\"\nlatency = \"47ms\"\n"
	for _, row := range []struct{ text, say, fails string }{
		{text: settings},
		{text: settings + measured,
			say: "Assumptions measured from 412 live orders of the last 30 days up to 2026-11-22: " +
				"half_spread_bps, slippage_bps, latency."},
		{text: settings + measured + "fill_probability = \"0.31\"\n",
			say: "Assumptions measured from 412 live orders of the last 30 days up to 2026-11-22: " +
				"half_spread_bps, slippage_bps, latency; set otherwise: fill_probability is left out, measured was " +
				"0.31."},
		{text: settings + "[backtest.measured]\norders = 3\nfrom = 2026-11-22\nto = 2026-11-23\nslippage_bps = \"2\"",
			say: "Assumptions measured from 3 live orders of the last day up to 2026-11-22; set otherwise: " +
				"slippage_bps is " +
				"0.41, measured was 2."},
		{text: settings + "[backtest.measured]\norders = 0", fails: "backtest.measured.orders"},
		{text: settings + "[backtest.measured]\norders = 1\nfrom = 2026-11-23\nto = 2026-11-23",
			fails: "backtest.measured.to"},
		{text: settings + "[backtest.measured]\norder = 1", fails: "unknown key"},
	} {
		c, err := config.LoadBacktest(&config.Source{Text: row.text})
		if err == nil {
			var p *Backtest
			if p, err = NewBacktest(c, smaCross()); err == nil && row.say != "" {
				require.Equal(t, []string{row.say}, p.Options.Assumptions)
			} else if err == nil {
				require.Empty(t, p.Options.Assumptions)
			}
		}
		if row.fails != "" {
			require.ErrorContains(t, err, row.fails)
			continue
		}
		require.NoError(t, err)
	}
}
