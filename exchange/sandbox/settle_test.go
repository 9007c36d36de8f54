package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestAFeeIsToldWhenItsFillHasSettled(t *testing.T) {
	f := newFloor(t, func(c *Config) { c.Rules.SettleAfter = 2 * time.Second })
	bid := f.place(f.alice, "buy limit amount=2 price=100")
	ask := f.place(f.bob, "sell market amount=1")
	require.Equal(t, "0", ask.FeePaid)
	require.False(t, ask.Fills[0].Settled)
	require.Nil(t, ask.Fills[0].Fee)
	require.Nil(t, ask.Fills[0].FeeCurrency)
	require.Equal(t, market.Money(1099_75), f.venue.BalanceOf(f.bob.id, 1).Total, "the money has moved")

	f.wait(time.Second)
	f.place(f.bob, "sell market amount=1")
	f.wait(time.Second)
	told := f.order(f.alice, "GET /order", "market=BTC-EUR orderId="+bid.OrderID)
	require.Equal(t, "0.15", told.FeePaid, "of the first fill alone")
	require.Equal(t, []bool{true, false}, []bool{told.Fills[0].Settled, told.Fills[1].Settled})
	trades := read[[]toldTrade](f, f.ok(f.alice, "GET /trades", "market=BTC-EUR"))
	require.Equal(t, []bool{false, true}, []bool{trades[0].Settled, trades[1].Settled})
	require.Nil(t, trades[0].Fee)
	require.Equal(t, "0.15", *trades[1].Fee)
	require.Equal(t, "EUR", *trades[1].FeeCurrency)

	f.wait(time.Second)
	require.Equal(t, "0.3", f.order(f.alice, "GET /order", "market=BTC-EUR orderId="+bid.OrderID).FeePaid)
}
