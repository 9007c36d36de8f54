package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestAClaimHoldsMoneyAndASlotUntilItIsFreed(t *testing.T) {
	d := newDesk(t, 1, nil)
	quote := d.m.Quote
	d.deposit(0, quote, 1000*eur)
	waits := func(id market.OrderID) *market.Order {
		return &market.Order{ID: id, Strategy: 1, Market: d.m.ID, Side: market.Buy, OnHoldCurrency: quote}
	}
	d.Claim(waits(7), 300*eur, false)
	d.Claim(waits(7), 200*eur, true) // in place of the first
	d.Claim(waits(8), 50*eur, false)
	require.Equal(t, Balance{1000 * eur, 250 * eur}, d.totals(1)[1])
	require.Equal(t, [2]int{1, 0}, [2]int{d.SlotsBy(1), d.OpenBy(1)})
	require.NoError(t, d.Check())
	exposure, err := d.AssetExposure(d.m.Base, quote)
	require.NoError(t, err)
	require.Equal(t, market.Money(250*eur), exposure)
	d.Unclaim(7)
	d.Unclaim(7)
	d.Unclaim(9)
	require.Zero(t, d.SlotsBy(1))
	require.Equal(t, market.Money(50*eur), d.totals(1)[1].Held)
	require.NoError(t, d.Check())
	d.balances[1][quote].Held = 0
	require.ErrorContains(t, d.Check(), "holds 0, its open orders 5000")
}

func TestWithoutAnOrderItsFundsAndItsPlaceAreFree(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(0, d.m.Quote, 1000*eur)
	first := d.send(market.Buy, btc, 100*at1, 100*eur)
	second := d.send(market.Buy, btc, 90*at1, 90*eur)
	d.Without(first, func() {
		require.Equal(t, Balance{1000 * eur, 90 * eur}, d.totals(1)[1])
		require.Equal(t, []*market.Order{&second.Order}, d.Open(nil, 1, 0))
		require.Equal(t, [3]int{1, 1, 1}, [3]int{d.SlotsBy(1), d.InFlightBy(1), d.OpenIn(d.m.ID)})
		require.Equal(t, market.Price(90*at1), d.BestOwn(d.m.ID, market.Buy))
	})
	require.NoError(t, d.Check())
	require.Equal(t, market.Money(190*eur), d.totals(1)[1].Held)
	require.Equal(t, []*market.Order{&first.Order, &second.Order}, d.Open(nil, 1, 0))
}
