package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// endedOrder is an order of 2 for 10, canceled by the books after a fill of 1, as it is kept
// outside of the account, which has forgotten it.
func endedOrder(t *testing.T) (d *desk, kept Order, fills []market.Fill) {
	d = newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 1000*eur)
	o := d.send(market.Buy, 2*btc, 10*at1, 20*eur)
	fill := market.Fill{ID: [16]byte{1}, Order: o.ID, Market: o.Market, Strategy: 1, Side: market.Buy, Price: 10 * at1,
		Amount: btc, Settled: true}
	r := d.report(o, market.ExecCanceled, market.StatusCanceled)
	r.FilledAmount, r.AmountRemaining = btc, btc
	d.tell(r, fill)
	require.Nil(t, d.Known(o.ID))
	return d, Order{Order: o.Order, State: o.State, Reported: true}, []market.Fill{fill}
}

func TestAnEndedOrderIsOpenAgainAndItsFillsAreNotBookedTwice(t *testing.T) {
	d, kept, fills := endedOrder(t)
	has := d.Total(d.m.Quote).Total
	require.NoError(t, d.CanReopen(EndedOrder(kept, fills), 10*eur))
	o := EndedOrder(kept, fills)
	d.Reopen(o)
	require.NoError(t, d.Check())
	require.Equal(t, 1, d.OpenBy(1))
	require.Equal(t, 1, d.OpenIn(o.Market))

	r := d.report(o, market.ExecTrade, market.StatusPartiallyFilled)
	r.FilledAmount, r.AmountRemaining, r.OnHold = btc, btc, 10*eur
	r.Updated = 1 // older than what the books have: it is the truth all the same
	applied := d.tell(r, fills[0])
	require.Same(t, o, applied.Order)
	require.Zero(t, applied.Fresh)
	require.Equal(t, PartiallyFilled, o.State)
	require.Equal(t, has, d.Total(d.m.Quote).Total)
	require.EqualValues(t, 10*eur, d.Total(d.m.Quote).Held)
	require.NoError(t, d.Check())
}

func TestAnOrderIsReopenedFromItsSavedFormAsItIs(t *testing.T) {
	d, kept, fills := endedOrder(t)
	want := EndedOrder(kept, fills)
	text, err := d.SaveOrder(want, []string{"one"})
	require.NoError(t, err)
	_, err = d.ReopenSaved(text, []string{"one"})
	require.NoError(t, err)
	have := d.Known(want.ID)
	d.Reopen(want) // the account has it: this only brings it into the same state
	want.State, want.Reported = have.State, have.Reported
	require.Equal(t, want.Order, have.Order)
	require.Equal(t, want.fills, have.fills)
	require.Equal(t, want.counted, have.counted)
	require.NoError(t, d.Check())
	_, err = d.ReopenSaved(text, []string{"another"})
	require.ErrorContains(t, err, "one of them is gone")
	_, err = d.ReopenSaved([]byte("{"), nil)
	require.ErrorContains(t, err, "reopen an order")
}

func TestAnOrderIsNotReopenedWithoutItsFunds(t *testing.T) {
	d, kept, fills := endedOrder(t)
	o := EndedOrder(kept, fills)
	require.ErrorContains(t, d.CanReopen(o, 2000*eur), "is available")
	require.ErrorContains(t, d.CanReopen(o, -1), "would hold -1")
	o.Strategy = 0
	require.ErrorContains(t, d.CanReopen(o, 0), "a strategy that this bot does not have")
}

func TestAnOpenOrderIsNotReopened(t *testing.T) {
	d, o := inState(t, Open)
	d.Reopen(o)
	require.Equal(t, Open, o.State)
	require.Equal(t, 1, d.OpenBy(1))
	require.NoError(t, d.Check())
}
