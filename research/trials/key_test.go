package trials

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// planOf is a plan without candles.
func planOf(t *testing.T) *backtest.Plan {
	c := &market.Catalog{}
	eur, err := c.AddAsset("EUR", 2)
	require.NoError(t, err)
	for _, symbol := range []string{"BTC", "ETH"} {
		_, err = c.AddAsset(symbol, 8)
		require.NoError(t, err)
	}
	for _, name := range []string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, c.AddMarket(&market.Market{Name: name, PriceDigits: 2}))
	}
	m := c.MarketNamed("BTC-EUR")
	return &backtest.Plan{Catalog: c, Currency: eur,
		Feeds: []backtest.Feed{{Market: m, Interval: market.Interval1h, Drive: true, Deliver: true}},
		Strategies: []backtest.StrategyPlan{{Name: "trend", Kind: shipped.SMACross, Interval: market.Interval1h,
			Markets: []*market.Market{m}, Values: map[string]any{"fast": 20}}}}
}

// keyed is the key of a plan over a range.
func keyed(t *testing.T, p *backtest.Plan, o Origin) uint64 {
	try, err := NewTry(p, &o, 0, []float64{0, 0.1}, []float64{0, 0.1}, 3)
	require.NoError(t, err)
	return try.Key
}

// TestATryIsWhatDecidesItsResult changes one thing after another.
func TestATryIsWhatDecidesItsResult(t *testing.T) {
	keys := map[uint64]string{}
	for name, change := range map[string]func(p *backtest.Plan, o *Origin){
		"nothing":   func(*backtest.Plan, *Origin) {},
		"parameter": func(p *backtest.Plan, _ *Origin) { p.Strategies[0].Values = map[string]any{"fast": 21} },
		"limit":     func(p *backtest.Plan, _ *Origin) { p.Strategies[0].Limits.MaxOpenOrders = 3 },
		"market": func(p *backtest.Plan, _ *Origin) {
			p.Strategies[0].Markets = []*market.Market{p.Catalog.MarketNamed("ETH-EUR")}
		},
		"fees":    func(p *backtest.Plan, _ *Origin) { p.Fees.Maker++ },
		"account": func(p *backtest.Plan, _ *Origin) { p.Account.MaxDrawdown = 5 },
		"money":   func(p *backtest.Plan, _ *Origin) { p.Deposits = []backtest.Deposit{{Asset: 1, Money: 5}} },
		"path":    func(p *backtest.Plan, _ *Origin) { p.Venue.Path = sim.Pessimistic },
		"latency": func(p *backtest.Plan, _ *Origin) { p.DataLatency = 1 },
		"feed":    func(p *backtest.Plan, _ *Origin) { p.Feeds[0].Drive = false },
		"rules":   func(p *backtest.Plan, _ *Origin) { p.Feeds[0].Market.TickSize = 7 },
		"changes": func(p *backtest.Plan, _ *Origin) {
			p.Changes = []backtest.MarketChange{{Market: 1, Rules: &market.Rules{TickSize: 3}}}
		},
		"from": func(_ *backtest.Plan, o *Origin) { o.From++ },
		"to":   func(_ *backtest.Plan, o *Origin) { o.To++ },
		"code": func(_ *backtest.Plan, o *Origin) { o.Code = "v2" },
		"data": func(_ *backtest.Plan, o *Origin) { o.Data = "other" },
	} {
		p, o := planOf(t), Origin{To: 5, Code: "v1", Data: "d"}
		change(p, &o)
		key := keyed(t, p, o)
		require.Empty(t, keys[key], "%s has no key of its own", name)
		keys[key] = name
		require.Equal(t, key, keyed(t, p, o))
	}
	p := planOf(t)
	p.Strategies[0].Values = map[string]any{"fast": "20", "slow": smacrossSlow(t)}
	require.Equal(t, "nothing", keys[keyed(t, p, Origin{To: 5, Code: "v1", Data: "d"})], "the default, written out")
}

// smacrossSlow is a default.
func smacrossSlow(t *testing.T) string {
	settings, err := shipped.SMACross.Resolve(nil)
	require.NoError(t, err)
	for _, s := range settings {
		if s.Name == "slow" {
			return s.Text
		}
	}
	t.Fatal("smacross has no parameter slow")
	return ""
}

// TestEverySettingOfTheVenueDecides fails where the venue has a new setting: keyOf needs it.
func TestEverySettingOfTheVenueDecides(t *testing.T) {
	own := []string{"Path", "LimitFill", "LimitGap", "FeeRounding", "HalfSpread", "Slippage", "Latency", "VolumeShare",
		"PlacementLimit", "MissProbability", "MissSeed"}
	notOfABacktest := []string{"DrawEvery", "Fees", "Watches", "Followed", "Point", "HoldLater", "Book", "Liquidity",
		"ExecutionLimit",
		"ReferenceLimit", "SpreadLimit"}
	first := keyed(t, planOf(t), Origin{To: 1})
	for _, f := range reflect.VisibleFields(reflect.TypeFor[sim.Config]()) {
		if slices.Contains(notOfABacktest, f.Name) {
			continue
		}
		require.Contains(t, own, f.Name)
		p := planOf(t)
		switch v := reflect.ValueOf(&p.Venue).Elem().FieldByIndex(f.Index); {
		case v.CanInt():
			v.SetInt(v.Int() + 1)
		default:
			v.SetUint(v.Uint() + 1)
		}
		require.NotEqual(t, first, keyed(t, p, Origin{To: 1}), f.Name)
	}
}
