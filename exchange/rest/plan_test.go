package rest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/rest"
)

func TestAPlanAboveFourFifthsOfTheBudgetIsRefused(t *testing.T) {
	plan := rest.Polls{
		{Name: "best bids and asks", Weight: 1, Every: time.Second, Payer: rest.PaidByKey},
		{Name: "open orders", Weight: 100, Every: time.Minute, Payer: rest.PaidByKey},
		{Name: "balance", Weight: 5, Every: 30 * time.Second, Payer: rest.PaidByKey},
		{Name: "candles", Weight: 1, Every: time.Hour},
	}
	require.Equal(t, 170, plan.PerMinute(rest.PaidByKey))
	require.Equal(t, 1, plan.PerMinute(rest.PaidByIP), "rounded up")
	require.NoError(t, plan.Check(213, 1000))
	require.EqualError(t, plan.Check(212, 1000), `the polling plan needs 170 of the 212 weight points that the key has a minute, more than 169 (80 %); ask less often for:
   100 a minute  open orders: weight 100 every 1m0s
    60 a minute  best bids and asks: weight 1 every 1s
    10 a minute  balance: weight 5 every 30s`)
	require.ErrorContains(t, plan.Check(1000, 1), "the IP address")
	require.Zero(t, rest.Poll{Weight: 5}.PerMinute())
}
