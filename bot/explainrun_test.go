package bot

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplainTellsOfAFinishedBacktest(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	text, code := said(t, "backtest", "--from", "2023-06", "--out", run, "--set", "report.envelope=false",
		"--set", "strategies.trend.params.fast=20", "--set", "strategies.trend.params.slow=50",
		"--set", "risk.max_position=5000", "--set", "strategies.trend.params.share=0.3")
	require.Zero(t, code, text)
	text, code = said(t, "explain", "2", "--run", run)
	require.Zero(t, code, text)
	require.Regexp(t, `^order 2\n`+
		`2023-\d\d-\d\d \d\d:00:00  trend asks in BTC-EUR: market sell of 0\.\d+, tag cross down\n`+
		`2023-\d\d-\d\d \d\d:00:00  filled 0\.\d+ at \d+\.\d+, fee \d+\.\d+ EUR as taker\n`+
		`2023-\d\d-\d\d \d\d:00:00  the order is filled; 0\.\d+ traded, fees \d+\.\d+\n$`, text)

	text, code = said(t, "explain", "2", "--run", run, "--json")
	require.Zero(t, code, text)
	var o ranOrder
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	again, code := said(t, "explain", o.Order["client_order_id"][:13], "--run", run, "--json")
	require.Zero(t, code)
	require.Equal(t, text, again, "by the first digits of an id")
	require.Len(t, o.Fills, 1)

	text, code = said(t, "explain", "--refused", "--run", run)
	require.Zero(t, code)
	require.Equal(t, "nothing was refused\n", text)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"99999", "--run", run}, "no order 99999 in "},
		{[]string{"2", "--run", filepath.Join(run, "nowhere")}, "there is no result.json"},
		{[]string{"2", "--run", run, "-c", "live.toml"}, "-c and --state name a bot"},
	} {
		text, code := said(t, append([]string{"explain"}, c.args...)...)
		require.Equal(t, 64, code, text)
		require.Contains(t, text, c.want)
	}
}

func TestRefusalsOfABacktestHaveWordsShareAndCure(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	text, code := said(t, "backtest", "--from", "2023-06", "--out", run, "--set", "strategies.trend.params.fast=20",
		"--set", "strategies.trend.params.slow=50", "--set", "risk.max_order_value=100")
	require.Zero(t, code, text)
	require.Regexp(t, `Refused by the gate or the venue\n +\d+  trend: max_order_value, 100\.0 % of all orders: bot help`,
		text)
	text, code = said(t, "explain", "--refused", "trend", "--run", run)
	require.Zero(t, code)
	require.Regexp(t, `^trend: max_order_value\n  \d+ times, 100\.0 % of all orders\n  bot help max_order_value\n$`, text)
	text, _ = said(t, "explain", "--refused", "other", "--run", run)
	require.Equal(t, "nothing was refused\n", text)
	text, code = said(t, "help", "max_order_value")
	require.Zero(t, code)
	require.Contains(t, text, "a larger order")
}
