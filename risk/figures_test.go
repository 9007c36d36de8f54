package risk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

func TestTheFiguresSayHowThingsStandBeforeAndAfter(t *testing.T) {
	limits, account := risk.Limits{MaxOpenOrders: 3, MaxOrderValue: 500 * eur, MaxPosition: 2000 * eur,
		OrdersPerMinute: 10},
		risk.AccountLimits{MaxExposure: 5000 * eur, MaxDailyLoss: 900 * eur, MaxDrawdown: 20_000_000}
	b := newBench(t, limits, account)
	c, m := newMarket(t)
	account.Currency = m.Quote
	b.gate = risk.New(c, risk.Config{Account: account, Strategies: []risk.Limits{limits, {}}, Explain: true})
	b.price(110 * at1)
	b.price(99 * at1) // 10 BTC in the pool, 110 EUR down from the top
	b.passes(limit(buy, 2*btc, 90*at1))
	require.Equal(t, []state.Figure{
		{Name: "available EUR", Before: "10000", After: "9820"},
		{Name: "max_open_orders", Before: "0", After: "1", Limit: "3"},
		{Name: "max_order_value", Before: "0", After: "180", Limit: "500"},
		{Name: "max_position", Before: "0", After: "198", Limit: "2000"},
		{Name: "max_exposure", Before: "990", After: "1170", Limit: "5000"},
		{Name: "orders_per_minute", Before: "0", After: "1", Limit: "10"},
		{Name: "max_daily_loss", Before: "110", After: "110", Limit: "900"},
		{Name: "max_drawdown", Before: "0.0099099", After: "0.0099099", Limit: "0.2"},
	}, b.gate.Figures())
	b.refused(limit(buy, 20*btc, 90*at1), risk.ReasonMaxOrderValue)
	require.Empty(t, b.gate.Figures())
	exit := place(market.Order{Type: market.TypeMarket, Side: market.Sell, OrderState: market.OrderState{Amount: btc}})
	exit.Attached = true
	b.passes(exit)
	require.Equal(t, state.Figure{Name: "max_order_value", Before: "0", After: "99"}, b.gate.Figures()[2],
		"no limit was asked of an exit")
}

func TestFiguresAreNotKeptUnasked(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	b.passes(limit(buy, btc, 90*at1))
	require.Empty(t, b.gate.Figures())
	_, followed := b.gate.Standing()
	require.False(t, followed)
}
