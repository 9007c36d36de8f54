package risk_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// useOf is a limit of the account or of strategy 1 at the bench's time.
func (b *bench) useOf(name string) risk.LimitUse {
	b.t.Helper()
	uses := b.gate.AccountUse(nil, b.account)
	uses = b.gate.StrategyUse(uses, b.account, 1, b.account.Catalog().Markets(), b.now)
	for _, u := range uses {
		if u.Name == name {
			return u
		}
	}
	b.t.Fatalf("there is no limit %s", name)
	return risk.LimitUse{}
}

// What the gate says of an order that it approves begins at the use that was told before.
func TestTheUseOfALimitIsWhatTheGateCountsFrom(t *testing.T) {
	limits, account := risk.Limits{MaxOpenOrders: 5, MaxPosition: 2000 * eur, OrdersPerMinute: 6},
		risk.AccountLimits{MaxExposure: 5000 * eur, MaxDailyLoss: 900 * eur, MaxDrawdown: 20_000_000}
	b := newBench(t, limits, account)
	c, m := newMarket(t)
	account.Currency = m.Quote
	b.gate = risk.New(c, risk.Config{Account: account, Strategies: []risk.Limits{limits, {}}, Explain: true,
		Fees: zeroFees})
	b.price(110 * at1)
	b.price(99 * at1)
	digits := map[string]uint8{"max_position": 2, "max_exposure": 2, "max_daily_loss": 2,
		"max_drawdown": market.RateDigits}
	compared := 0
	for range 4 {
		told := map[string]string{}
		for name := range map[string]bool{"max_open_orders": true, "max_position": true, "max_exposure": true,
			"orders_per_minute": true, "max_daily_loss": true, "max_drawdown": true} {
			told[name] = market.FormatFixed(b.useOf(name).Used, digits[name])
		}
		b.sent(limit(buy, 2*btc, 90*at1))
		for _, f := range b.gate.Figures() {
			if want, known := told[f.Name]; known {
				require.Equal(t, want, f.Before, f.Name)
				compared++
			}
		}
	}
	require.Equal(t, 4*6, compared)
	require.Equal(t, int64(4), b.useOf("max_open_orders").Used)
	require.False(t, b.useOf("max_open_orders").Reached)
	stand, _ := b.gate.Standing()
	require.Equal(t, int64(stand.HighWater), b.useOf("max_drawdown").Mark)
	b.sent(limit(buy, btc, 90*at1))
	require.True(t, b.useOf("max_open_orders").Reached)
	b.refused(limit(buy, btc, 90*at1), risk.ReasonMaxOpenOrders)
}

func TestALimitThatIsNotSetHasNoEnd(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	b.price(100 * at1)
	for _, u := range b.gate.StrategyUse(b.gate.AccountUse(nil, b.account), b.account, 1, nil, b.now) {
		require.Zero(t, u.Limit, u.Name)
		require.False(t, u.Reached, u.Name)
	}
}

// Each reached limit is one that refuses, and says so.
func TestAReachedLimitRefuses(t *testing.T) {
	b := newBench(t, risk.Limits{ReduceOnly: true}, risk.AccountLimits{})
	b.price(100 * at1)
	require.True(t, b.useOf("reduce_only").Reached)
	b.refused(limit(buy, btc, 90*at1), risk.ReasonReduceOnly)

	b = newBench(t, risk.Limits{MaxDataAge: 30 * time.Second}, risk.AccountLimits{})
	b.price(100 * at1)
	require.False(t, b.useOf("max_data_age").Reached)
	b.now += 31 * second
	require.True(t, b.useOf("max_data_age").Reached)
	b.refused(limit(buy, btc, 90*at1), risk.ReasonStale)

	b = newBench(t, risk.Limits{OrdersPerMinute: 1}, risk.AccountLimits{})
	b.price(100 * at1)
	b.sent(limit(buy, btc, 90*at1))
	require.True(t, b.useOf("orders_per_minute").Reached)
	b.refused(limit(buy, btc, 90*at1), risk.ReasonOrdersPerMinute)
}
