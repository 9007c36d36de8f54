package backtest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/strategy"
)

// always sells all each midnight, and buys with all cash an hour later.
type always struct{ strategy.Base }

func (*always) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	switch {
	case market.Interval1d.Aligned(c.End()):
		m.Close()
	case m.Flat() && len(m.OpenOrders()) == 0:
		m.Buy(strategy.CashShare(45 * market.Percent))
	}
}

// alwaysInvested is a plan of that strategy in two markets with 4 % a day, 76 % a year, each.
func alwaysInvested(t *testing.T, days int, target market.Rate) *Plan {
	catalog := &market.Catalog{}
	eur, err := catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	p := &Plan{Catalog: catalog, Currency: eur, Deposits: []Deposit{{Asset: eur.ID, Money: 100_000_00}}}
	p.Account.Currency = eur.ID
	p.Account.VolatilityTarget, p.Account.VolatilityInterval = target, market.Interval1h
	series := map[market.ID][]market.Candle{}
	for i, base := range []string{"BTC", "ETH"} {
		_, err := catalog.AddAsset(base, 8)
		require.NoError(t, err)
		m := &market.Market{Name: base + "-EUR", PriceDigits: 2, VolumeDigits: 4, Status: market.Trading,
			Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2, TickSize: 1, MinOrderInQuote: 5_00}}
		require.NoError(t, catalog.AddMarket(m))
		g, err := synthetic.New(synthetic.Config{Seed: uint64(i + 5), Market: m, Interval: market.Interval1h,
			Start: 1640995200_000_000_000, First: 1000_00, Volume: 5_0000, DailyVolatility: 0.04, GapChance: -1,
			JumpChance: -1})
		require.NoError(t, err)
		series[m.ID] = make([]market.Candle, 24*days)
		for i := range series[m.ID] {
			g.Next(&series[m.ID][i])
		}
		p.Feeds = append(p.Feeds, Feed{Market: m, Interval: market.Interval1h, Drive: true, Deliver: true})
	}
	p.Open = func(f Feed, _, _ market.Time) (Source, error) { return &memory{series[f.Market.ID]}, nil }
	kind := strategy.Define("invested", "for a test", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &always{}, nil })
	p.Strategies = []StrategyPlan{{Name: "invested", Kind: kind, Markets: catalog.Markets(),
		Interval: market.Interval1h}}
	return p
}

func TestTheRealisedVolatilityEndsNearItsTarget(t *testing.T) {
	run := func(target market.Rate) (*Result, string) {
		res, err := Run(context.Background(), alwaysInvested(t, 400, target), Options{})
		require.NoError(t, err)
		text, err := res.JSON()
		require.NoError(t, err)
		return res, string(text)
	}
	free, _ := run(0)
	require.Greater(t, float64(free.Performance.Volatility), 0.35)
	require.Zero(t, free.Strategies[0].Scaled)
	for _, target := range []market.Rate{10_000_000, 20_000_000, 30_000_000} {
		res, text := run(target)
		t.Logf("target %s: realised %s, %d orders scaled", target, res.Performance.Volatility.Percent(2),
			res.Strategies[0].Scaled)
		// the made-up prices have trends, so days move more than the hours let expect
		require.InEpsilon(t, float64(target)/1e8, float64(res.Performance.Volatility), 0.2)
		require.Greater(t, res.Strategies[0].Scaled, int64(300))
		require.Contains(t, strings.Join(res.Assumptions, "\n"), "volatility_target: buys are made smaller where the "+
			"account's expected volatility would go above "+target.String()+" a year, by returns of 1h;")
		require.Equal(t, "invested: volatility_target", res.Refusals[0].Reason, "until there are 20 returns")
		_, again := run(target)
		require.Equal(t, text, again)
	}
}
