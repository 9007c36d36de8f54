package plan

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

const variedConfig = `
[data]
source = "synthetic"
[backtest]
from = 2021-02-01
to = 2021-04-01
[strategies.trend]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1h"
[strategies.other]
kind = "rsirevert"
markets = ["BTC-EUR"]
interval = "4h"
`

// TestAVariantRunsAsItsConfigDoes holds shared plans against plans that are made anew.
func TestAVariantRunsAsItsConfigDoes(t *testing.T) {
	source := &config.Source{Text: variedConfig}
	lib := Shared(newSynthetics(1))
	v := NewVariants(source, shipped.Definitions(), lib)
	datasets := map[string]bool{}
	for _, sets := range [][]string{
		{"strategies.trend.params.fast=5"},
		{"strategies.trend.params.fast=7", "strategies.trend.params.slow=9", "strategies.other.params.period=5"},
		{"account.taker_fee=0.1%", "account.maker_fee=0", "account.fee_rounding=fill"},
		{"account.taker_fee=0.3%", "backtest.path=pessimistic", "strategies.trend.params.fast=5"},
		{"backtest.slippage_bps=20", "backtest.half_spread_bps=5", "backtest.latency=90m", "backtest.data_latency=1m"},
		{"backtest.fill_probability=50%", "strategies.trend.params.fast=6"},
		{"backtest.volume_share=0.1%", "backtest.placement_limit=1%", "backtest.limit_fill=through"},
		{"risk.max_drawdown=5%", "risk.max_open_orders=1", "risk.orders_per_minute=1", "risk.price_collar=1%"},
		{"risk.cool_down=48h", "risk.cool_down_losses=1"},
		{"risk.volatility_target=30%", "risk.opposite=refuse"},
		{"strategies.trend.interval=2h"},
		{"strategies.trend.allocation=3000", "account.start.EUR=8000"},
		{"risk.max_exposure=2000", "risk.max_in_flight=1", "risk.max_order_value=300", "risk.reduce_only=false"},
		{"risk.max_asset_exposure.BTC=1500"},
		{"strategies.trend.risk.max_position=500"},
	} {
		overrides, err := config.ParseSets(sets)
		require.NoError(t, err)
		dataset, err := v.Look(overrides)
		require.NoError(t, err, sets)
		datasets[dataset] = true
		shared, err := v.Plan(overrides)
		require.NoError(t, err, sets)

		c, err := config.LoadBacktest(&config.Source{Text: variedConfig, Overrides: overrides})
		require.NoError(t, err)
		fresh, err := NewBacktest(c, shipped.Definitions())
		require.NoError(t, err)
		own, err := OpenLibrary(c)
		require.NoError(t, err)
		require.NoError(t, fresh.Finish(own))
		want, err := backtest.Run(t.Context(), fresh.Run, backtest.Options{})
		require.NoError(t, err)
		got, err := backtest.Run(t.Context(), shared, backtest.Options{})
		require.NoError(t, err)
		wantText, err := want.JSON()
		require.NoError(t, err)
		gotText, err := got.JSON()
		require.NoError(t, err)
		require.Equal(t, string(wantText), string(gotText), "%v", sets)
	}
	require.Len(t, datasets, 7, "fees, venue and limits read the same candles: %v", datasets)
}

func TestARefusedVariantNamesItsSetting(t *testing.T) {
	v := NewVariants(&config.Source{Text: variedConfig}, shipped.Definitions(), Shared(newSynthetics(1)))
	for _, c := range []struct{ set, want string }{
		{"strategies.trend.params.fats=5",
			`--set strategies.trend.params.fats: strategy smacross: unknown parameter "fats"`},
		{"strategies.trend.params.fast=0", "0 is out of bounds"},
		{"strategies.tend.params.fast=5", `has no kind; did you mean "strategies.trend"?`},
		{"backtest.seed=2", "all sets read one store; it cannot be varied"},
		{"backtest.pth=ohlc", `unknown key; the nearest is "path"`},
	} {
		overrides, err := config.ParseSets([]string{c.set})
		require.NoError(t, err)
		_, err = v.Look(overrides)
		require.ErrorContains(t, err, c.want)
		require.False(t, isRefusal(err), c.set)
	}
	overrides, err := config.ParseSets([]string{"strategies.trend.params.fast=500"})
	require.NoError(t, err)
	_, err = v.Look(overrides)
	require.True(t, isRefusal(err), "parameters that do not go together")
}

func isRefusal(err error) bool { return errors.As(err, new(strategy.InvalidError)) }
