package state

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// TestWhatHasEndedLeavesNothingBehind plays orders that end in every way, late fees, lost answers
// and changes of mind among them.
func TestWhatHasEndedLeavesNothingBehind(t *testing.T) {
	const orders = 20_000
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 1_000_000*eur)
	apply := func(ev market.Event) {
		_, err := d.Apply(&ev) // Check after each would take minutes
		require.NoError(t, err)
	}
	tell := func(r *market.Report, fills ...market.Fill) {
		apply(market.Event{Kind: market.KindReport, At: d.time, Report: r, Fills: fills})
	}
	largest, known := 0, 0
	for n := range orders {
		d.id++
		o := d.Send(&market.Order{ID: d.id, Strategy: 1, Market: d.m.ID, Type: market.TypeLimit, Side: market.Buy,
			OrderState: market.OrderState{Amount: 2, Price: 10 * at1}}, 1)
		fill := func(settled bool) market.Fill {
			f := d.fillOf(o, 1, 10*at1, 1)
			f.ID, f.Settled = uuid.UUID{1: byte(n >> 16), 2: byte(n >> 8), 3: byte(n)}, settled
			return f
		}
		ended := func(status market.Status, filled market.Qty) *market.Report {
			r := d.report(o, market.ExecTrade, status)
			r.FilledAmount, r.AmountRemaining, r.OnHold = filled, 2-filled, 0
			return r
		}
		switch n % 7 {
		case 0:
			tell(answer(d.report(o, market.ExecRejected, 0)))
		case 1: // lost, and certainly absent
			tell(answer(d.report(o, market.ExecUnknown, 0)))
			tell(answer(d.report(o, market.ExecRejected, 0)))
		case 2: // lost, absent, and there all the same
			tell(answer(d.report(o, market.ExecUnknown, 0)))
			tell(answer(d.report(o, market.ExecRejected, 0)))
			tell(ended(market.StatusNew, 0))
			tell(ended(market.StatusCanceled, 0))
		case 3: // its fee comes after its end
			tell(ended(market.StatusCanceled, 1), fill(false))
			apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{fill(true)}})
		case 4: // its fill comes after its end
			tell(ended(market.StatusCanceled, 1))
			apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{fill(true)}})
		case 5:
			tell(ended(market.StatusExpired, 0))
		case 6:
			tell(ended(market.StatusCanceled, 1), fill(true))
		}
		if known = d.orders.Len(); n == orders/10 {
			data := wholeText(t, d.Account, []string{"a"})
			largest = len(data)
		}
		require.LessOrEqual(t, known, maxAbsent, "after order %d", d.id)
		require.Empty(t, d.Open(nil, 0, 0))
		require.Empty(t, append(d.openIn[1].bids.entries, d.openIn[1].asks.entries...))
		require.LessOrEqual(t, len(d.spare)+len(d.closed)+known, 128, "memory of ended orders is used again")
	}
	require.NoError(t, d.Check())
	require.InDelta(t, maxAbsent, known, 1, "the latest are remembered")
	data := wholeText(t, d.Account, []string{"a"})
	require.Less(t, len(data), largest+largest/10, "what a start reads does not grow either")

	restored := NewAccount(d.catalog, 1, nil)
	require.NoError(t, restoreText(restored, data, []string{"a"}))
	require.Equal(t, known, restored.orders.Len())
	require.Len(t, restored.absent, known)
}
