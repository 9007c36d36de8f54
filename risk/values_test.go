package risk_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

func TestARefusalSaysItsValuesAsAPersonReadsThem(t *testing.T) {
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 1, AmountDigits: 8, QuoteDigits: 2}
	eur := &market.Asset{Symbol: "EUR", Digits: 2}
	for _, c := range []struct {
		refusal           risk.Refusal
		word, have, limit string
		words             string
	}{
		{risk.Refusal{Reason: risk.ReasonExchange, Code: 216, Message: "no money"}, "exchange 216", "", "",
			"the exchange would answer 216: no money"},
		{risk.Refusal{Reason: risk.ReasonMaxOrderValue, Have: 349120, Limit: 70000}, "max_order_value", "3491.2", "700",
			"3491.2, limit 700"},
		{risk.Refusal{Reason: risk.ReasonMaxExposure, Have: 349120, Limit: 70000}, "max_exposure", "3491.2 EUR",
			"700 EUR", "3491.2 EUR, limit 700 EUR"},
		{risk.Refusal{Reason: risk.ReasonMaxAssetExposure, Have: 349120, Limit: 70000}, "max_asset_exposure",
			"3491.2 EUR", "700 EUR", "3491.2 EUR, limit 700 EUR"},
		{risk.Refusal{Reason: risk.ReasonDrawdown, Have: 21_500_000, Limit: 20_000_000}, "max_drawdown", "21.5%",
			"20%", "the equity is 21.5% below its highest, limit 20%"},
		{risk.Refusal{Reason: risk.ReasonOrdersPerMinute, Have: 30, Limit: 30}, "orders_per_minute", "30", "30",
			"30, limit 30"},
		{risk.Refusal{Reason: risk.ReasonStale, Have: int64(90 * time.Second), Limit: int64(time.Minute)}, "stale",
			"1m30s", "1m0s", "1m30s, limit 1m0s"},
		{risk.Refusal{Reason: risk.ReasonCoolDown, Have: int64(time.Minute), Limit: int64(time.Hour)}, "cool_down",
			"1m0s", "1h0m0s", "1m0s of 1h0m0s are left"},
		{risk.Refusal{Reason: risk.ReasonSelfCross, Have: 300005, Limit: 300010}, "self_cross", "30000.5", "30001",
			"at 30000.5 it would meet an own order at 30001"},
		{risk.Refusal{Reason: risk.ReasonInFlight, Have: 12}, "in_flight", "order 12", "", "order 12"},
		{risk.Refusal{Reason: risk.ReasonHalted}, "halted", "", "", "the strategy is halted"},
		{risk.Refusal{Reason: risk.ReasonWarmUp}, "warm_up", "", "", "its warm-up is not over"},
	} {
		have, limit := c.refusal.Values(m, eur)
		require.Equal(t, []string{c.word, c.have, c.limit, c.words},
			[]string{c.refusal.Word(), have, limit, c.refusal.Words(m, eur)})
	}
	none := risk.Refusal{Reason: risk.ReasonUnknownMarket}
	require.Equal(t, "there is no such market here", none.Words(nil, eur))
}
