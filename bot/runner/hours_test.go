package runner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/simulate"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// simulated runs a config over the recorded hours of a stage.
func simulated(t *testing.T, s *stage, text string, sets ...config.Override) (*backtest.Result, error) {
	hours, err := simulate.ReadHours(t.Context(), s.Folder)
	require.NoError(t, err)
	c, err := config.LoadBacktest(&config.Source{File: "new.toml", Text: text, Overrides: sets})
	require.NoError(t, err)
	require.NoError(t, hours.Settle(c))
	p, err := plan.NewBacktest(c, s.kinds)
	require.NoError(t, err)
	if err := hours.Plan(p); err != nil {
		return nil, err
	}
	return hours.Run(t.Context(), p)
}

const otherBot = `
[account]
maker_fee = "0.0015"
taker_fee = "0.0025"
[strategies.restless]
kind = "restless"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "10000"
params.seed = 4
`

func TestOtherSettingsRunOverTheRecordedHours(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := traded(t, 4, 5*time.Minute, nil)
		before := contents(t, s.Folder)
		one, err := simulated(t, s, otherBot)
		require.NoError(t, err)
		require.Positive(t, one.Orders.Fills)
		require.Contains(t, one.Warnings[0],
			"Simulated over what was recorded in "+s.Folder+" from 2000-01-01T00:00:")
		require.Contains(t, one.Assumptions[1], "Tickers, books and trades move the markets as they arrived")
		require.Equal(t, "10000", one.Performance.Start.String())
		again, err := simulated(t, s, otherBot)
		require.NoError(t, err)
		a, err := one.JSON()
		require.NoError(t, err)
		b, err := again.JSON()
		require.NoError(t, err)
		require.Equal(t, string(a), string(b))
		other, err := simulated(t, s, otherBot, config.Override{Flag: "--set", Text: "5",
			Path: []string{"strategies", "restless", "params", "seed"}})
		require.NoError(t, err)
		require.NotEqual(t, one.Performance.Final, other.Performance.Final)
		require.Equal(t, before, contents(t, s.Folder), "nothing is written")

		for _, wrong := range []struct{ key, text, words string }{
			{"interval", "5m", "strategy restless wants 5m candles of BTC-EUR, which are not recorded; there are "},
			{"markets", `["ETH-EUR"]`, "wants 1m candles of ETH-EUR, which are not recorded"},
		} {
			_, err = simulated(t, s, otherBot, config.Override{Flag: "--set", Text: wrong.text,
				Path: []string{"strategies", "restless", wrong.key}})
			require.ErrorAs(t, err, new(config.UsageError))
			require.ErrorContains(t, err, wrong.words)
		}
	})
}
