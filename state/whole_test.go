package state

import (
	"math"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// Two accounts hear the same; one folds each report as applyAny does. They must not differ.
func TestAnOrderThatOneFillEndsIsFoldedAsAnyOrder(t *testing.T) {
	whole, errors := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		one, other := newDesk(t, 2, []bool{false, false, true}), newDesk(t, 2, []bool{false, false, true})
		pick := func(name string, of ...int64) int64 { return rapid.SampledFrom(of).Draw(rt, name) }
		tracked := rapid.Bool().Draw(rt, "tracked")
		for _, d := range [...]*desk{one, other} {
			if tracked {
				d.Track()
				d.Saved()
			}
			for owner := market.StrategyID(1); owner <= 2; owner++ {
				d.deposit(owner, d.m.Quote, 1_000_000)
				d.deposit(owner, d.m.Base, 100*btc)
			}
		}
		open := []market.OrderID(nil)
		for range 60 {
			if len(open) == 0 || pick("send", 0, 0, 1) == 1 {
				o := market.Order{Strategy: market.StrategyID(pick("strategy", 1, 2)),
					Market: 1, Side: market.Side(pick("side", 1, 2)), Type: market.OrderType(pick("type", 1, 1, 1, 2))}
				one.id++
				o.ID, o.Amount, o.Price = one.id, market.Qty(pick("amount", 1, 7, btc)), market.Price(o.Type-1)*at1
				if pick("by quote", 0, 0, 0, 1) == 1 {
					o.AmountQuote, o.Amount = market.Money(o.Amount), 0
				}
				hold := market.Money(pick("hold", 0, 100, 1000))
				sent, twin := one.Send(&o, hold), other.Send(&o, hold)
				if pick("cancel", 0, 0, 0, 1) == 1 {
					one.WantCancel(sent, true)
					other.WantCancel(twin, true)
				}
				open = append(open, o.ID)
				continue
			}
			at := rapid.IntRange(0, len(open)-1).Draw(rt, "order")
			o := one.orders.Get(open[at])
			if o == nil {
				open = append(open[:at], open[at+1:]...)
				continue
			}
			ev := drawReport(rt, one, o)
			copied := *ev
			copied.Fills = append([]market.Fill(nil), ev.Fills...)
			if ev.Kind == market.KindReport && one.endsWhole(o, ev) {
				whole++
			}
			mine, failed := one.Apply(ev)
			other.recycle()
			theirs, failedToo := other.applyTwin(&copied)
			if failed != nil {
				errors++
			}
			require.Equal(rt, failedToo, failed)
			require.Equal(rt, copied.Fills, ev.Fills)
			requireSameOrder(rt, theirs.Order, mine.Order)
			theirs.Order, mine.Order = nil, nil
			require.Equal(rt, theirs, mine)
			requireSameAccount(rt, one, other)
		}
	})
	require.Positive(t, whole, "no order was ended by one fill")
	require.Positive(t, errors, "no fill was too large")
}

// applyTwin is Apply with applyAny for each report.
func (d *desk) applyTwin(ev *market.Event) (Applied, error) {
	o := d.orders.Get(ev.Report.Order)
	if ev.Kind == market.KindFill || o == nil || !tells(ev.Report) && ev.Report.Command != market.CommandPlace {
		return d.Apply(ev)
	}
	return d.applyAny(o, ev)
}

// drawReport draws a report of an open order: mostly one with a fill of all that is left.
func drawReport(t *rapid.T, d *desk, o *Order) *market.Event {
	pick := func(name string, of ...int64) int64 { return rapid.SampledFrom(of).Draw(t, name) }
	statuses := []market.Status{market.StatusFilled, market.StatusFilled, market.StatusFilled, market.StatusNew,
		market.StatusPartiallyFilled, market.StatusCanceled}
	r := d.report(o, market.ExecTrade, rapid.SampledFrom(statuses).Draw(t, "status"))
	r.Updated = market.Time(pick("updated", 5, 6, 7))
	execs := []market.ExecutionType{market.ExecTrade, market.ExecTrade, market.ExecTrade, market.ExecNew,
		market.ExecRejected, market.ExecUnknown}
	r.Exec = rapid.SampledFrom(execs).Draw(t, "exec")
	if r.Exec == market.ExecNew {
		r.Status = market.StatusNew
	}
	if r.Command, r.Code = 0, 0; !tells(r) {
		r.Command, r.Code = market.CommandPlace, 216
	}
	r.Triggered, r.ExchangeID = pick("triggered", 0, 1) == 1, uuid.UUID{3: 1}
	r.RestatementReason = market.RestatementReason(pick("reason", 0, 1))
	r.OnHold = market.Money(pick("hold", 0, 3))
	ev := &market.Event{Kind: market.EventKind(pick("event", int64(market.KindReport), int64(market.KindReport),
		int64(market.KindFill))), At: 1, Report: r}
	if r.Exec == market.ExecNew {
		return ev
	}
	for range pick("fills", 1, 1, 1, 0, 2) {
		price := market.Price(pick("price", at1, 3, math.MaxInt64))
		f := d.fillOf(o, market.Qty(pick("filled", max(1, int64(o.AmountRemaining)), 1)), price, pick("fee", 0, 5, -3))
		if len(o.fills) > 0 && pick("known fill", 0, 1) == 1 {
			f.ID = o.fills[0].id
		}
		f.Settled = pick("settled", 1, 1, 0) == 1
		r.FilledAmount += f.Amount
		ev.Fills = append(ev.Fills, f)
	}
	r.FilledAmount += market.Qty(pick("more filled", 0, 0, 1, -1))
	r.AmountRemaining = max(0, o.Amount-r.FilledAmount)
	return ev
}

func requireSameOrder(t *rapid.T, want, have *Order) {
	require.Equal(t, want == nil, have == nil)
	if want == nil {
		return
	}
	require.Equal(t, want.Order, have.Order)
	facts := func(o *Order) []any {
		return []any{o.State, o.InFlight, o.CancelWanted, o.Reported, o.Code, o.open, o.counted, o.unsettled}
	}
	require.Equal(t, facts(want), facts(have))
}

func requireSameAccount(t *rapid.T, want, have *desk) {
	names := []string{"a", "b"}
	saved, err := want.Save(nil, names)
	require.NoError(t, err)
	again, err := have.Save(nil, names)
	require.NoError(t, err)
	require.Equal(t, string(saved), string(again))
	require.Equal(t, want.TakeChanges(nil), have.TakeChanges(nil))
	require.Equal(t, want.touched, have.touched)
	require.Equal(t, checks{want.Account}.consistent(), checks{have.Account}.consistent())
	for s := market.StrategyID(1); s <= 2; s++ {
		require.Equal(t, want.Position(s, 1), have.Position(s, 1))
		require.Equal(t, want.totals(s), have.totals(s))
		require.Equal(t, []int{want.OpenBy(s), want.InFlightBy(s)}, []int{have.OpenBy(s), have.InFlightBy(s)})
	}
	require.Equal(t, want.stale, have.stale)
	require.Len(t, have.absent, len(want.absent))
	require.Equal(t, want.openIn[1].holds, have.openIn[1].holds)
}
