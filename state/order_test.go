package state

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// lives is what a report makes of an order of each state, one column for each input in the order of
// the constants; "-" is a report that cannot be true and is dropped.
var lives = map[State][]string{
	// new, awaitingTrigger, partiallyFilled, filled, canceled, expired, unresolved, rejected,
	// unknown
	Sent: {"open", "awaitingTrigger", "partiallyFilled", "filled", "canceled", "expired", "unknown",
		"rejected", "unknown"},
	Unknown: {"open", "awaitingTrigger", "partiallyFilled", "filled", "canceled", "expired", "unknown",
		"rejected", "unknown"},
	AwaitingTrigger: {"open", "awaitingTrigger", "partiallyFilled", "filled", "canceled", "expired", "unknown", "-",
		"unknown"},
	// a trigger does not un-fire
	Open: {"open", "-", "partiallyFilled", "filled", "canceled", "expired", "unknown", "-", "unknown"},
	// a fill does not un-happen
	PartiallyFilled: {"-", "-", "partiallyFilled", "filled", "canceled", "expired", "unknown", "-", "unknown"},
	Filled:          {"-", "-", "-", "-", "-", "-", "-", "-", "-"},
	// a fill that comes after its cancel counts all the same, see below
	Canceled: {"-", "-", "-", "-", "-", "-", "-", "-", "-"},
	Expired:  {"-", "-", "-", "-", "-", "-", "-", "-", "-"},
	// where its absence was only inferred
	Rejected: {"open", "awaitingTrigger", "partiallyFilled", "filled", "canceled", "expired", "-", "-", "-"},
}

// inState makes an order of a state by the reports that lead there. An order that is done is kept
// by a fill that has not come.
func inState(t *testing.T, s State) (*desk, *Order) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 1000*eur)
	o := d.send(market.Buy, 2*btc, 10*at1, 20*eur)
	switch s {
	case Sent:
	case Rejected:
		d.tell(answer(d.report(o, market.ExecUnknown, 0)))
		d.tell(answer(d.report(o, market.ExecRejected, 0)))
	case Unknown:
		d.tell(answer(d.report(o, market.ExecUnknown, 0)))
	default:
		r := d.report(o, market.ExecNew, 0)
		r.Status = map[State]market.Status{AwaitingTrigger: market.StatusAwaitingTrigger, Open: market.StatusNew,
			PartiallyFilled: market.StatusPartiallyFilled,
			Filled:          market.StatusFilled, Canceled: market.StatusCanceled, Expired: market.StatusExpired}[s]
		if s != AwaitingTrigger && s != Open {
			r.FilledAmount, r.AmountRemaining = btc, btc
		}
		d.tell(r)
	}
	require.Equal(t, s, o.State)
	return d, o
}

// answer makes a report the answer to a place.
func answer(r *market.Report) *market.Report {
	r.Command, r.Status = market.CommandPlace, 0
	return r
}

func TestEveryStateMeetsEveryReport(t *testing.T) {
	for s := Sent; s < States; s++ {
		require.Len(t, lives[s], int(inputs)-1)
		for in := saysNew; in < inputs; in++ {
			d, o := inState(t, s)
			r := d.report(o, market.ExecRestated, market.Status(in))
			if in == saysRejected {
				r = answer(d.report(o, market.ExecRejected, 0))
			}
			if in == saysUnknown {
				r = answer(d.report(o, market.ExecUnknown, 0))
			}
			applied := d.tell(r)
			want := lives[s][in-1]
			if want == "-" {
				require.Nil(t, applied.Order, "%s meets %d", s, in)
				require.Equal(t, s, o.State, "input %d", in)
				continue
			}
			require.Same(t, o, applied.Order, "%s meets %d", s, in)
			require.Equal(t, want, o.State.String(), "%s meets %d", s, in)
			require.Equal(t, o.State.Terminal(), applied.Ended)
			require.Equal(t, o.State.Terminal(), d.Own(o.ID) == nil, "%s meets %d", s, in)
		}
	}
}

// The record of an order that was cancelled while it rested does not say whether it had waited for
// a trigger.
func TestATriggerThatHasFiredStaysFired(t *testing.T) {
	d, o := inState(t, AwaitingTrigger)
	fired := d.report(o, market.ExecTriggered, market.StatusNew)
	fired.Triggered = true
	require.True(t, d.tell(fired).Order.Triggered)
	require.True(t, d.tell(d.report(o, market.ExecCanceled, market.StatusCanceled)).Order.Triggered)
}

func TestARefusalByTheExchangeIsCertain(t *testing.T) {
	d := newDesk(t, 1, nil)
	o := d.send(market.Buy, btc, 10*at1, 0)
	r := answer(d.report(o, market.ExecRejected, 0))
	r.Code = 216
	applied := d.tell(r)
	require.Equal(t, 216, applied.Order.Code)
	require.True(t, applied.Ended)
	require.Nil(t, d.tell(d.report(o, market.ExecNew, market.StatusNew)).Order)
}

// What an update changed stands in the order afterwards: every field that report and order share,
// looked up by name.
func TestAnOrderBecomesWhatItsReportSays(t *testing.T) {
	d, o := inState(t, Open)
	r := d.report(o, market.ExecUpdated, market.StatusNew)
	r.Price, r.TriggerAmount, r.Amount, r.AmountRemaining = 11*at1, 12*at1, 3*btc, 3*btc
	r.TimeInForce, r.SelfTradePrevention, r.PostOnly, r.Triggered, r.OnHold = market.IOC, market.CancelBoth, true, true,
		30*eur
	d.tell(r)
	order, report := reflect.ValueOf(o.Order), reflect.ValueOf(*r)
	for i := range report.NumField() {
		name := report.Type().Field(i).Name
		if field := order.FieldByName(name); field.IsValid() {
			require.Equal(t, report.Field(i).Interface(), field.Interface(), name)
		}
	}
}

func TestOverlateReportsAreDropped(t *testing.T) {
	d, o := inState(t, Open)
	o.Updated = 0 // as made by inState: its report was of time 1
	mk := func(updated market.Time, filled market.Qty, status market.Status) *market.Report {
		r := d.report(o, market.ExecRestated, status)
		r.Updated, r.FilledAmount, r.AmountRemaining = updated, filled, 2*btc-filled
		return r
	}
	rows := []struct {
		r    *market.Report
		want bool // it is taken
	}{
		{mk(10, 3, market.StatusPartiallyFilled), true},
		{mk(9, 5, market.StatusPartiallyFilled), false},  // older
		{mk(10, 2, market.StatusPartiallyFilled), false}, // of the same time, with fewer fills
		{mk(10, 3, market.StatusPartiallyFilled), true},  // the same once more changes nothing
		{mk(10, 4, market.StatusPartiallyFilled), true},
		{mk(11, 4, market.StatusCanceled), true},
		{mk(12, 2*btc, market.StatusFilled), false}, // it is done
	}
	for i, row := range rows {
		applied := d.tell(row.r)
		require.Equal(t, row.want, applied.Order != nil, "row %d", i)
	}
	require.Equal(t, Canceled, o.State)
}

func TestFillsOfAnOvertakenReportStillCount(t *testing.T) {
	d, o := inState(t, Open)
	first, second := d.fillOf(o, btc, 10*at1, 0), d.fillOf(o, btc, 10*at1, 0)
	early := d.report(o, market.ExecTrade, market.StatusPartiallyFilled)
	early.FilledAmount, early.AmountRemaining = btc, btc
	late := d.report(o, market.ExecTrade, market.StatusFilled)
	late.FilledAmount, late.AmountRemaining, late.OnHold = 2*btc, 0, 0
	applied := d.tell(late, second)
	require.True(t, applied.Ended)
	require.Equal(t, market.Qty(btc), d.Position(1, 1).Amount)
	applied = d.tell(early, first)
	require.Same(t, o, applied.Order)
	require.Equal(t, Applied{Order: o, Fresh: 1, Late: true}, applied) // it closes nothing a second time
	require.Equal(t, Filled, o.State)
	require.Equal(t, market.Qty(2*btc), d.Position(1, 1).Amount)
	require.Nil(t, d.tell(early, first).Order) // now nothing more is expected of the order
	require.Equal(t, market.Qty(2*btc), d.Position(1, 1).Amount)
}

func TestAnUpdateIsAnsweredByAnOvertakenReportToo(t *testing.T) {
	d, o := inState(t, Open)
	d.SendUpdate(o, 30*eur)
	answered := d.report(o, market.ExecUpdated, market.StatusNew)
	answered.OnHold = 30 * eur
	newer := d.report(o, market.ExecRestated, market.StatusNew)
	newer.OnHold = 30 * eur
	d.tell(newer)
	require.Equal(t, market.CommandUpdate, o.InFlight)
	require.Equal(t, market.Money(40*eur), o.OnHold) // 30 and the 10 that the update may need more
	applied := d.tell(answered)
	require.Equal(t, Applied{Order: o, Late: true}, applied)
	require.Zero(t, o.InFlight)
	require.Equal(t, market.Money(30*eur), o.OnHold)
}

func TestKnownFillsAreSkippedAndNewOnesMovedToTheFront(t *testing.T) {
	d, o := inState(t, Open)
	fills := make([]market.Fill, 6)
	for i := range fills {
		fills[i] = d.fillOf(o, btc/10, 10*at1, 0)
	}
	d.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{fills[0], fills[3]}})
	ev := market.Event{Kind: market.KindFill, Fills: []market.Fill{fills[0], fills[1], fills[3], fills[2], fills[1],
		fills[5]}}
	applied := d.apply(ev)
	require.Equal(t, 3, applied.Fresh)
	require.Equal(t, []market.Fill{fills[1], fills[2], fills[5]}, ev.Fills[:3]) // in the order in which they came
	require.Equal(t, market.Qty(5*(btc/10)), d.Position(1, 1).Amount)
}

func TestFillsAheadOfTheirReportFreeTheHold(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 20*eur)
	o := d.send(market.Buy, 2*btc, 10*at1, 20*eur)
	d.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{d.fillOf(o, btc, 10*at1, 0)}})
	require.Equal(t, Balance{Total: 10 * eur, Held: 10 * eur}, d.Total(d.m.Quote))
	d.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{d.fillOf(o, btc, 9*at1, 0)}})
	// better than its limit: the rest is freed by the report
	require.Equal(t, Balance{Total: eur, Held: eur}, d.Total(d.m.Quote))
	r := d.report(o, market.ExecTrade, market.StatusFilled)
	r.FilledAmount, r.AmountRemaining, r.OnHold = 2*btc, 0, 0
	applied := d.tell(r)
	require.True(t, applied.Ended)
	require.Equal(t, Balance{Total: eur}, d.Total(d.m.Quote))
}

func TestAFeeThatIsSettledLaterReachesCostAndCash(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 100*eur)
	settle := func(side market.Side, fee int64) Applied {
		o := d.send(side, btc, 10*at1, 0)
		fill := d.fillOf(o, btc, 10*at1, 0)
		fill.Settled = false
		r := d.report(o, market.ExecTrade, market.StatusFilled)
		r.FilledAmount, r.AmountRemaining = btc, 0
		d.tell(r, fill)
		fill.Settled, fill.Fee = true, market.ValueOf(fee)
		applied := d.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{fill}})
		require.Same(t, o, applied.Order) // it was kept for its fee
		require.False(t, applied.Ended)
		require.Zero(t, applied.Fresh)
		// and now forgotten
		require.Nil(t, d.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{fill}}).Order)
		return applied
	}
	settle(market.Buy, val)
	require.Equal(t, market.Position{Amount: btc, Cost: market.ValueOf(11 * val), Fees: market.ValueOf(val)},
		d.Position(1, 1))
	require.Equal(t, market.Money(89*eur), d.Total(d.m.Quote).Total)
	settle(market.Sell, 2*val)
	require.Equal(t, market.ValueOf(-3*val), d.Position(1, 1).Realised)
	require.Equal(t, market.Money(97*eur), d.Total(d.m.Quote).Total)
	require.Zero(t, d.Foreign()) // the late ones were our own
}

func TestForeignOrdersAreCountedAndNothingElse(t *testing.T) {
	d, o := inState(t, Open)
	before := d.totals(1)
	require.Equal(t, Applied{}, d.tell(&market.Report{Market: 1, Exec: market.ExecNew,
		OrderState: market.OrderState{Status: market.StatusNew}}))
	require.Equal(t, Applied{},
		d.apply(market.Event{Kind: market.KindFill,
			Fills: []market.Fill{{Market: 1, Side: market.Buy, Price: 1, Amount: 1}}}))
	require.Equal(t, Applied{}, d.apply(market.Event{Kind: market.KindFill}))
	require.Equal(t, int64(2), d.Foreign())
	require.Equal(t, before, d.totals(1))
	require.Equal(t, Open, o.State)
}

func TestTheRefusalOfACancelLeavesTheOrderAsItWas(t *testing.T) {
	d, o := inState(t, Open)
	d.SendCancel(o)
	r := d.report(o, market.ExecRejected, 0)
	r.Command = market.CommandUpdate // the answer to something else
	d.tell(r)
	require.Equal(t, market.CommandCancel, o.InFlight)
	r.Command = market.CommandCancel
	applied := d.tell(r)
	require.Equal(t, Applied{Order: o}, applied)
	require.Zero(t, o.InFlight)
	require.Equal(t, Open, o.State)
	require.Equal(t, market.Money(20*eur), o.OnHold)
}

func TestStatesAndTheirNumbersHaveNames(t *testing.T) {
	for s := Sent; s < States; s++ {
		require.NotEmpty(t, s.String())
		require.Equal(t, s >= Filled, s.Terminal())
	}
	require.Equal(t, "state(99)", State(99).String())
}
