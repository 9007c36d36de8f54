package core

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// sixStrategies is a bot of six strategies in two markets.
func sixStrategies(t *testing.T) *Config {
	c := &Config{Catalog: &market.Catalog{}, Run: uuid.UUID{1}, SaveLimit: 1 << 20, Log: zerolog.Nop(),
		Fees: backtest.Fees{Maker: 15, Taker: 25}}
	for _, symbol := range []string{"BTC", "ETH", "EUR"} {
		_, err := c.Catalog.AddAsset(symbol, 8)
		require.NoError(t, err)
	}
	c.Limits.Currency = c.Catalog.AssetNamed("EUR").ID
	for _, name := range []string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, c.Catalog.AddMarket(&market.Market{Name: name, PriceDigits: 2, VolumeDigits: 8,
			Status: market.Trading, Rules: market.Rules{TickSize: 1, QuantityDecimals: 8, NotionalDecimals: 2}}))
	}
	for _, name := range []string{"smacross", "breakout", "rsirevert", "bandrevert", "dca", "grid"} {
		kinds := shipped.Definitions()
		kind := kinds[slices.IndexFunc(kinds, func(k strategy.Definition) bool { return k.Name == name })]
		c.Strategies = append(c.Strategies, backtest.StrategyPlan{Name: name, Kind: kind, Interval: market.Interval1m,
			Markets: c.Catalog.Markets(), Limits: risk.Limits{OperatorID: 1, ReduceOnly: true}})
	}
	return c
}

// A manifest has what its engine was made of, after a way through its text: units, rules, limits
// and the parameters of each strategy.
func TestAManifestMakesTheSameEngineAgain(t *testing.T) {
	c := sixStrategies(t)
	c.Catalog.Market(1).MaxOpenOrders, c.Catalog.Market(2).Status = 7, market.CancelOnly
	c.Strategies[0].Limits.MaxOrderValue, c.Strategies[1].Own = 123, true
	c.Strategies[2].Values = map[string]any{"period": int64(21)}
	c.Limits.VolatilityTarget, c.Limits.VolatilityInterval, c.Limits.RefuseOpposite = 5, market.Interval1d, true
	c.Limits.MaxAssetExposure = map[string]market.Money{"BTC": 7}
	m, err := NewManifest(c, "v1")
	require.NoError(t, err)
	require.Equal(t, manifestVersion, m.Version)
	text, err := m.Encode()
	require.NoError(t, err)
	read, err := DecodeManifest(text)
	require.NoError(t, err)
	made, err := read.Core(shipped.Definitions())
	require.NoError(t, err)
	again, err := NewManifest(made, "v1")
	require.NoError(t, err)
	require.Equal(t, m, again)
	require.Equal(t, c.Catalog.Markets(), made.Catalog.Markets())
	for i := range c.Strategies {
		require.Equal(t, c.Strategies[i].Limits, made.Strategies[i].Limits)
	}
	_, err = read.Core(nil)
	require.ErrorAs(t, err, new(config.UsageError))
	read.Markets = read.Markets[:1]
	_, err = read.Core(shipped.Definitions())
	require.ErrorContains(t, err, `market "ETH-EUR" is none of its start`)
	_, err = DecodeManifest([]byte(`{"version":2}`))
	require.ErrorIs(t, err, bolt.ErrNewer)
	_, err = DecodeManifest([]byte("{"))
	require.ErrorIs(t, err, bolt.ErrCorrupt)
}
