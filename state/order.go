package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// State is the local state of an own order: the exchange's status, and what the exchange cannot
// know.
type State uint8

// The states.
const (
	Sent            State = iota + 1 // recorded and in flight; the exchange has not answered
	Unknown                          // the answer is missing: open until the exchange shows its outcome
	AwaitingTrigger                  // at the exchange, its trigger has not fired
	Open                             // at the exchange, nothing filled
	PartiallyFilled                  // at the exchange, partly filled
	Filled
	Canceled
	Expired
	Rejected // the exchange refused it: it never existed there
	States   // length of the list
)

var stateNames = [States]string{"", "sent", "unknown", "awaitingTrigger", "open", "partiallyFilled", "filled",
	"canceled", "expired", "rejected"}

// String returns the state's name.
func (s State) String() string {
	if s < States {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", s)
}

// Terminal reports whether nothing more can happen to the order.
func (s State) Terminal() bool { return s >= Filled }

// input is the news of a report about an order's state: the exchange's status, or an answer to a
// place.
type input uint8

const (
	saysNew input = iota + 1
	saysAwaitingTrigger
	saysPartiallyFilled
	saysFilled
	saysCanceled
	saysExpired
	saysUnresolved
	saysRejected
	saysUnknown
	inputs
)

// next is the life of an order: next[state][input]. Zero is a report that cannot be true in that
// state and is dropped. Closed orders stay as they are: later reports are late.
var next = [States][inputs]State{
	Sent: {
		saysNew: Open, saysAwaitingTrigger: AwaitingTrigger, saysPartiallyFilled: PartiallyFilled, saysFilled: Filled,
		// post-only that would match, self-trade prevention, price protection: accepted and ended
		// at once
		saysCanceled: Canceled,
		saysExpired:  Expired, // IOC, FOK or market without a match
		saysRejected: Rejected, saysUnknown: Unknown, saysUnresolved: Unknown,
	},
	Unknown: {
		saysNew: Open, saysAwaitingTrigger: AwaitingTrigger, saysPartiallyFilled: PartiallyFilled, saysFilled: Filled,
		saysCanceled: Canceled, saysExpired: Expired,
		saysRejected: Rejected, // certain absence, found by queries
		saysUnknown:  Unknown, saysUnresolved: Unknown,
	},
	AwaitingTrigger: {
		saysNew: Open, saysAwaitingTrigger: AwaitingTrigger, saysPartiallyFilled: PartiallyFilled, saysFilled: Filled,
		saysCanceled: Canceled,
		saysExpired:  Expired, // triggered into a market that could not fill it, or without the balance
		saysUnknown:  Unknown, saysUnresolved: Unknown,
	},
	Open: {
		saysNew: Open, saysPartiallyFilled: PartiallyFilled, saysFilled: Filled, saysCanceled: Canceled,
		saysExpired: Expired, // an update that set IOC or FOK
		saysUnknown: Unknown, saysUnresolved: Unknown,
	},
	PartiallyFilled: {
		saysPartiallyFilled: PartiallyFilled, saysFilled: Filled, saysCanceled: Canceled, saysExpired: Expired,
		saysUnknown: Unknown, saysUnresolved: Unknown,
	},
	Filled:   {},
	Canceled: {},
	Expired:  {},
	Rejected: {
		// the exchange refused it, or seemed to, and has it all the same
		saysNew: Open, saysAwaitingTrigger: AwaitingTrigger,
		saysPartiallyFilled: PartiallyFilled, saysFilled: Filled, saysCanceled: Canceled, saysExpired: Expired,
	},
}

// inputOf reads a report.
func inputOf(r *market.Report) input {
	switch r.Exec {
	case market.ExecRejected:
		return saysRejected
	case market.ExecUnknown:
		return saysUnknown
	}
	return input(r.Status)
}

// applyReport folds a report and its fills.
func (a *Account) applyReport(ev *market.Event) (Applied, error) {
	r := ev.Report
	o := a.orders.Get(r.Order)
	if o == nil {
		a.countForeign(r.Order)
		return Applied{}, nil
	}
	if !tells(r) && r.Command != market.CommandPlace {
		return a.applyAnswer(o, r), nil
	}
	if a.endsWhole(o, ev) {
		return a.applyWhole(o, ev)
	}
	return a.applyAny(o, ev)
}

// applyAny folds a report of an own order's state.
func (a *Account) applyAny(o *Order, ev *market.Event) (Applied, error) {
	r := ev.Report
	to := next[o.State][inputOf(r)]
	if to == 0 || older(o, r) {
		return a.applyLate(o, ev)
	}
	fresh, freed, err := a.countFills(o, ev)
	if err != nil || !tells(r) {
		a.release(o, freed)
	}
	if err != nil {
		return Applied{}, err
	}
	a.setState(o, r, to)
	if to.Terminal() {
		a.close(o)
	}
	return Applied{Order: o, Fresh: fresh, Ended: to.Terminal()}, nil
}

// tells reports whether a report tells the order's state at the exchange.
func tells(r *market.Report) bool {
	return r.Exec != market.ExecRejected && r.Exec != market.ExecUnknown
}

// setState brings an order into the state to, with the figures of a report.
func (a *Account) setState(o *Order, r *market.Report, to State) {
	a.touch(o)
	if o.State == Rejected {
		a.reopen(o)
	}
	hold := o.OnHold
	if to.Terminal() {
		a.removeOpen(o) // before it takes the report over: an order on its way out is not entered anew
	}
	if r.Exec != market.ExecUnknown && (o.InFlight == market.CommandPlace || r.Exec == market.ExecUpdated) {
		o.setInFlight(0)
		o.extra = 0
	}
	if tells(r) {
		a.copyReport(o, r)
		hold = r.OnHold + o.extra
	}
	if to.Terminal() {
		hold = 0
	}
	o.reserve(hold)
	o.State, o.Code = to, r.Code
	o.unanswered = o.unanswered || to == Unknown
}

// countForeign counts reports of foreign orders. Late reports of own orders that are done do not
// count.
func (a *Account) countForeign(id market.OrderID) {
	if id == 0 {
		a.foreign++
		a.changed = true
	}
}

// applyLate folds the news in an overtaken report: fills not counted before, and that an update was
// answered.
func (a *Account) applyLate(o *Order, ev *market.Event) (Applied, error) {
	answered := ev.Report.Exec == market.ExecUpdated && o.InFlight == market.CommandUpdate
	if answered {
		a.TakeBack(o)
	}
	paid := o.FeePaid
	fresh, err := a.countFillsAlone(o, ev)
	if o.FeePaid != paid {
		o.FeePaid = ev.Report.FeePaid // the total, where a fee was settled after the order's end
	}
	if err != nil || fresh == 0 && !answered {
		return Applied{}, err
	}
	return Applied{Order: o, Fresh: fresh, Late: true}, nil
}

// applyAnswer folds the refusal of an update or a cancel, or its missing answer: the order itself
// is unchanged.
func (a *Account) applyAnswer(o *Order, r *market.Report) Applied {
	if r.Exec == market.ExecRejected && o.InFlight == r.Command {
		a.TakeBack(o)
	}
	return Applied{Order: o}
}

// older reports whether a later report than r was applied before: reports are ordered by (updated,
// filledAmount, status).
func older(o *Order, r *market.Report) bool {
	switch {
	case !o.Reported || !tells(r):
		return false
	case r.Updated != o.Updated:
		return r.Updated < o.Updated
	case r.FilledAmount != o.FilledAmount:
		return r.FilledAmount < o.FilledAmount
	}
	return r.Status < o.Status && o.Status.Terminal()
}

// copyReport takes over the report's values, but for the hold.
func (a *Account) copyReport(o *Order, r *market.Report) {
	reason, held := o.RestatementReason, o.OnHold
	o.Reported, o.ExchangeID = true, r.ExchangeID
	a.setOrderState(o, &r.OrderState)
	if r.RestatementReason == 0 {
		o.RestatementReason = reason
	}
	if o.Created == 0 {
		o.Created = r.Updated
	}
	o.OnHold = held
}
