package live

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// ResolveAsExchange books the next answer to a query of an own order whatever rules it breaks: a
// person has checked, and the exchange is right. Names and holds that would harm the account keep
// their known values. Call it within Do.
func (l *Loop) ResolveAsExchange(id market.OrderID) error {
	if l.Account.Known(id) == nil {
		return nothingExpected(id)
	}
	q := l.queryOf(id)
	q.trusted = true
	q.soon(l.now)
	return nil
}

// ResolveAsAbsent ends an own order in the account with its booked fills: a person has checked, and
// the exchange does not have it. Call it within Do.
func (l *Loop) ResolveAsAbsent(id market.OrderID) error {
	own := l.Account.Known(id)
	if own == nil {
		return nothingExpected(id)
	}
	q := l.queryOf(id)
	l.auditor.logResolved(own, own.State.String(), "absent")
	if own.State.Terminal() {
		return nil
	}
	if !own.Reported && len(l.auditor.fills[id]) == 0 {
		l.endAbsent(q, &market.Command{Kind: market.CommandPlace, Order: own.Order})
	} else {
		record := exchange.WireOrder{Order: own.Order}
		record.Order.Status, record.Order.OnHold, record.Order.Updated = market.StatusCanceled, 0, max(own.Updated,
			l.now)
		l.report(id, &record, market.ExecCanceled)
	}
	q.unresolved = nil
	l.follow(id)
	return nil
}

// Resolved reports whether a person's decision about an order is booked. Call it within Do.
func (l *Loop) Resolved(id market.OrderID) bool {
	q := l.queries.of[id]
	return q == nil || !q.trusted
}

func nothingExpected(id market.OrderID) error {
	return fmt.Errorf("nothing is expected of order %d any more; bot orders --all lists how it ended", id)
}

// bookAnyway makes a record that breaks rules bookable, because a person says that the exchange is
// right.
func (j *auditor) bookAnyway(own *state.Order, r *reply, broken []verify.Broken) {
	got := &r.record.Order
	for i := range broken {
		j.logResolved(own, broken[i].Wanted, string(broken[i].Rule)+" "+broken[i].Seen)
		switch broken[i].Rule {
		case verify.RuleOrderID:
			got.ExchangeID = own.ExchangeID
		case verify.RuleHold, verify.RuleHoldCurrency:
			got.OnHold = own.OnHold
		}
	}
	if len(broken) == 0 {
		j.logResolved(own, own.State.String(), got.Status.String())
	}
	if q := j.queries.of[own.ID]; q != nil {
		q.trusted = false
	}
}

// logResolved records a person's decision, with both values.
func (j *auditor) logResolved(own *state.Order, ours, theirs string) {
	j.Log.Warn().Int64("order", int64(own.ID)).Str("books", ours).Str("exchange", theirs).
		Msg("an order is resolved as a person says")
	j.ReconcileLog.Discrepancy(j.now, &state.Discrepancy{What: "resolve", Ours: ours, Theirs: theirs,
		Conclusion: "resolved by the operator", Order: own.ID})
}
