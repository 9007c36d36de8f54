package risk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// byAsset are limits on the exposure of assets.
func byAsset(symbol string, limit market.Money) risk.AccountLimits {
	return risk.AccountLimits{MaxAssetExposure: map[string]market.Money{symbol: limit}}
}

func TestMaxAssetExposureCountsAllStrategies(t *testing.T) {
	// 1000 EUR worth of base are there already
	b := newBench(t, risk.Limits{}, byAsset("BTC", 1500*eur))
	other := limit(buy, 3*btc, 100*at1)
	other.Order.Strategy = 2
	b.sent(other)
	o := b.sent(limit(buy, btc, 100*at1))
	b.passes(limit(buy, btc, 100*at1))
	refusal := b.refused(limit(buy, btc+10_000, 100*at1), risk.ReasonMaxAssetExposure)
	require.EqualError(t, refusal, "refused: max_asset_exposure (1500.01 EUR, limit 1500 EUR)")
	b.refused(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 3 * btc}), risk.ReasonMaxAssetExposure)
	b.filled(atMarket(buy, btc), 100*at1) // what was on hold is a position now
	b.refused(limit(buy, btc/10, 100*at1), risk.ReasonMaxAssetExposure)

	b.price(200 * at1) // far above the limit: what takes exposure away passes
	b.passes(update(o.ID, market.ChangeAmount, market.OrderState{Amount: btc / 2}))
	b.passes(limit(market.Sell, 9*btc, 201*at1))
	b.passes(attached(atMarket(market.Sell, btc)))
	b.passes(attached(atMarket(buy, btc))) // the engine attaches exits alone, and no limit is asked of them
}

func TestMaxExposureComesBeforeThatOfTheAsset(t *testing.T) {
	both := byAsset("BTC", 1500*eur)
	both.MaxExposure = 1200 * eur
	b := newBench(t, risk.Limits{}, both)
	b.refused(limit(buy, 3*btc, 100*at1), risk.ReasonMaxExposure)
	b.passes(limit(buy, 2*btc, 100*at1))
	both.MaxExposure = 1600 * eur
	b.limit(risk.Limits{}, both)
	b.passes(limit(buy, 5*btc, 100*at1))
	b.refused(limit(buy, 6*btc, 100*at1), risk.ReasonMaxAssetExposure)
}

func TestAnAssetThatIsNotListedHasTheLimitOfEveryAsset(t *testing.T) {
	c, m := newMarket(t)
	_, err := c.AddAsset("ETH", 8)
	require.NoError(t, err)
	require.NoError(t, c.AddMarket(&market.Market{Name: "ETH-EUR", PriceDigits: 2, Status: market.Trading}))
	account := state.NewAccount(c, 1, nil)
	ev := market.Event{Kind: market.KindTransfer, Asset: m.Base, Money: 2 * btc, Market: m.ID, Price: 100 * at1}
	_, err = account.Apply(&ev)
	require.NoError(t, err)
	for _, row := range []struct {
		limits map[string]market.Money
		want   []risk.LimitUse
	}{
		{nil, []risk.LimitUse{{Unknown: true}}},
		{map[string]market.Money{"ETH": 7}, []risk.LimitUse{{Market: 2, Limit: 7}}},
		{map[string]market.Money{"*": 30_000}, []risk.LimitUse{{Market: 1, Used: 20_000, Limit: 30_000},
			{Market: 2, Limit: 30_000}}},
		{map[string]market.Money{"*": 5, "BTC": 20_000}, []risk.LimitUse{
			{Market: 1, Used: 20_000, Limit: 20_000, Reached: true}, {Market: 2, Limit: 5}}},
		// 0 is no limit, of this asset too
		{map[string]market.Money{"*": 5, "BTC": 0}, []risk.LimitUse{{Market: 2, Limit: 5}}},
	} {
		gate := risk.New(c, risk.Config{Account: risk.AccountLimits{Currency: m.Quote, MaxAssetExposure: row.limits}})
		var uses []risk.LimitUse
		for _, u := range gate.AccountUse(nil, account) {
			if u.Name == "max_asset_exposure" {
				require.Equal(t, risk.UnitMoney, u.Unit)
				u.Name, u.Unit = "", ""
				uses = append(uses, u)
			}
		}
		require.Equal(t, row.want, uses, row.limits)
	}
}

func TestALimitByAssetHoldsFromAReloadOn(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	b.passes(limit(buy, 6*btc, 100*at1))
	b.limit(risk.Limits{}, byAsset(risk.EveryAsset, 1500*eur))
	b.refused(limit(buy, 6*btc, 100*at1), risk.ReasonMaxAssetExposure)
	b.limit(risk.Limits{}, byAsset("ETH", 1500*eur))
	b.passes(limit(buy, 6*btc, 100*at1))
}

func TestTheFiguresNameTheAssetOfALimit(t *testing.T) {
	c, m := newMarket(t)
	limits := byAsset("BTC", 1500*eur)
	limits.Currency = m.Quote
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	b.gate = risk.New(c, risk.Config{Account: limits, Strategies: make([]risk.Limits, 2), Explain: true})
	b.passes(limit(buy, 2*btc, 100*at1))
	require.Contains(t, b.gate.Figures(),
		state.Figure{Name: "max_asset_exposure BTC", Before: "1000", After: "1200", Limit: "1500"})
	b.passes(limit(market.Sell, 2*btc, 100*at1))
	for _, figure := range b.gate.Figures() {
		require.NotContains(t, figure.Name, "exposure")
	}
}
