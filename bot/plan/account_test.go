package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// builtinPlan is the plan of `bot backtest` without a config, with other settings.
func builtinPlan(t *testing.T, sets ...string) (*Backtest, error) {
	overrides, err := config.ParseSets(sets)
	require.NoError(t, err)
	c, err := config.LoadBacktest(&config.Source{Text: builtinText(t), Overrides: overrides})
	if err != nil {
		return nil, err
	}
	return NewBacktest(c, smaCross())
}

// Each limit of the config reaches the gate under its key, in the gate's units.
func TestEachLimitOfTheConfigReachesTheGate(t *testing.T) {
	want := map[string]int64{"opposite": 1, "reduce_only": 1}
	sets := []string{"risk.opposite=refuse", "risk.reduce_only=true", "risk.cool_down=19s"}
	number := int64(10)
	for form, limits := range map[string]struct {
		unit int64
		keys []string
	}{
		"%d": {1, []string{"max_open_orders", "max_in_flight", "orders_per_minute", "cool_down_losses",
			"max_positions"}},
		"%d%%": {1e6, []string{"max_drawdown", "volatility_target", "price_collar"}},
		"%ds":  {1e9, []string{"max_data_age"}},
		"%d.0": {100, []string{"max_exposure", "max_daily_loss", "max_order_value", "max_position"}},
	} {
		for _, key := range limits.keys {
			number++
			want[key] = number * limits.unit
			sets = append(sets, fmt.Sprintf("risk."+key+"="+form, number))
		}
	}
	p, err := builtinPlan(t, sets...)
	require.NoError(t, err)
	require.Equal(t, market.Duration(19*time.Second), p.Strategies[0].Limits.CoolDown)
	_, err = p.Catalog.AddAsset("BTC", 8)
	require.NoError(t, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, Status: market.Trading}
	require.NoError(t, p.Catalog.AddMarket(m))
	gate := risk.New(p.Catalog, risk.Config{Account: p.Limits, Strategies: []risk.Limits{p.Strategies[0].Limits}})
	account := state.NewAccount(p.Catalog, 1, nil)
	got := map[string]int64{}
	for _, u := range gate.StrategyUse(gate.AccountUse(nil, account), account, 1, []*market.Market{m}, 0) {
		if u.Name != "max_asset_exposure" {
			got[u.Name] = u.Limit
		}
	}
	require.Equal(t, want, got)
}

func TestLimitsByAssetAreReadInTheUnitsOfTheCurrency(t *testing.T) {
	p, err := builtinPlan(t, `risk.max_asset_exposure={BTC = 5000.5, "*" = "20"}`)
	require.NoError(t, err)
	require.Equal(t, map[string]market.Money{"BTC": 500050, "*": 2000}, p.Limits.MaxAssetExposure)
	p, err = builtinPlan(t, `risk.max_asset_exposure={}`)
	require.NoError(t, err)
	require.Nil(t, p.Limits.MaxAssetExposure)
}

func TestTheWordsOfOpposite(t *testing.T) {
	for set, want := range map[string]bool{"risk.opposite=": false, "risk.opposite=allow": false,
		"risk.opposite=refuse": true} {
		p, err := builtinPlan(t, set)
		require.NoError(t, err)
		require.Equal(t, want, p.Limits.RefuseOpposite)
	}
	_, err := builtinPlan(t, "risk.opposite=refused")
	require.ErrorContains(t, err,
		`risk.opposite: "refused" is not one of allow, refuse; the nearest is "refuse"`)
	_, err = builtinPlan(t, "risk.opposite=cross")
	require.ErrorContains(t, err, `risk.opposite: "cross" is gone: orders of two strategies no longer change hands `+
		`inside the bot; want "refuse", or "allow" to send both to the exchange`)
}

func TestTheReturnsOfATargetAreThoseOfTheLongestCandles(t *testing.T) {
	p, err := builtinPlan(t, "risk.volatility_target=20%")
	require.NoError(t, err)
	require.Equal(t, market.Rate(20_000_000), p.Limits.VolatilityTarget)
	require.Equal(t, p.Strategies[0].Interval, p.Limits.VolatilityInterval)
	p, err = builtinPlan(t, "risk.volatility_target=0.2", "risk.volatility_interval=1d")
	require.NoError(t, err)
	require.Equal(t, market.Interval1d, p.Limits.VolatilityInterval)
	p, err = builtinPlan(t, "risk.volatility_interval=1m") // nothing is estimated
	require.NoError(t, err)
	require.Zero(t, p.Limits.VolatilityInterval)

	for set, want := range map[string]string{
		"risk.volatility_interval=1m": "risk.volatility_interval: 1m is shorter than the candles of strategy trend, 1h",
		"risk.volatility_interval=1M": "risk.volatility_interval: months differ in length; want 1W at most",
		"risk.volatility_interval=2d": "risk.volatility_interval: ",
		"risk.volatility_target=101%": "risk.volatility_target: 1.01 is more than the whole",
		"risk.volatility_target=-5%":  "risk.volatility_target: ",
		"risk.volatility_targt=5%":    `the nearest is "volatility_target"`,
	} {
		_, err := builtinPlan(t, "risk.volatility_target=20%", set)
		require.ErrorContains(t, err, want, set)
	}
}

func TestAMistypedLimitByAssetIsRefusedWithItsPlace(t *testing.T) {
	for set, want := range map[string]string{
		"risk.max_asset_exposure.BCT=5000": `risk.max_asset_exposure.BCT: no strategy trades "BCT" as a base asset; ` +
			`the nearest is "BTC", and "*" is for all that are not listed`,
		"risk.max_asset_exposure.EUR=5000":  `risk.max_asset_exposure.EUR: no strategy trades "EUR"`,
		"risk.max_asset_exposure.BTC=-1":    "risk.max_asset_exposure.BTC: -1 is negative",
		"risk.max_asset_exposure.BTC=0.001": "risk.max_asset_exposure.BTC: 0.001 has more decimals than the 2 of EUR",
		"risk.max_asset_exposure.BTC=much":  "risk.max_asset_exposure.BTC: ",
		"risk.max_asset_exposure=5000":      "risk.max_asset_exposure: want a table",
		"risk.max_asset_exposur={BTC = 1}":  `the nearest is "max_asset_exposure"`,
	} {
		_, err := builtinPlan(t, set)
		require.ErrorContains(t, err, want, set)
	}
}
