package sandbox

import (
	"cmp"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

// faultSchedule holds the scheduled faults of a script that have not happened yet: part of the
// schedule of the exchange.
type faultSchedule struct {
	ex    *Exchange
	start market.Time
	next  []*scheduledFault // by After
}

// plan takes the scheduled faults of a script.
func (a *faultSchedule) plan(s *loadedScript) {
	a.start, a.next = s.Begins(), slices.Clone(s.scheduled)
	for _, f := range s.scheduled {
		if f.Until != 0 {
			a.next = append(a.next, &scheduledFault{Rule: f.Rule, scope: f.scope, over: true})
		}
	}
	slices.SortStableFunc(a.next, func(x, y *scheduledFault) int { return cmp.Compare(x.at(), y.at()) })
	for _, l := range a.ex.listings[1:] {
		a.ex.venue.MissTouches(l.ID, 0, s.Seed())
	}
}

// at is when a fault happens, or ends.
func (f *scheduledFault) at() market.Duration {
	if f.over {
		return f.Until
	}
	return f.After
}

func (a *faultSchedule) due() market.Time {
	if len(a.next) == 0 {
		return never
	}
	return later(a.start, a.next[0].at())
}

func (a *faultSchedule) run(at market.Time) {
	f := a.next[0]
	a.next = a.next[1:]
	a.ex.store.markUrgent() // after a restart the script may be another
	for _, l := range a.ex.listings[1:] {
		if f.scope.listing == nil || f.scope.listing == l {
			a.ex.carryOutFault(f, l, at)
		}
	}
	if !f.over {
		a.ex.script.Strikes(f.Rule)
	}
}

// carryOutFault carries out a scheduled fault in one market.
func (ex *Exchange) carryOutFault(f *scheduledFault, l *listing, at market.Time) {
	switch f.Kind {
	case fault.MarketStatus:
		ex.setStatus(l, f.Status, f.scope.price, at)
	case fault.TickSize:
		ex.setTick(l, f.scope.tick)
	case fault.CancelOrders:
		ex.cancelAll(l, f.scope.account, cmp.Or(f.Reason, market.CancelOnAdminRequest), at, nil)
	case fault.MissedFill:
		ex.venue.MissTouches(l.ID, f.missed(), ex.script.Seed())
	case fault.NewNonces:
		l.nonce, l.text = 0, bookText{}
	}
}

// missed is the probability of a missedFill as a rate; 0 at its end.
func (f *scheduledFault) missed() market.Rate {
	if f.over {
		return 0
	}
	return market.Rate(math.Round(cmp.Or(f.Probability, 1) * float64(market.Pow10(market.RateDigits))))
}

// lateOrders are orders that reach the book later: part of the schedule of the exchange.
type lateOrders struct {
	ex     *Exchange
	orders []lateOrder // by At
}

// lateOrder is an order that reaches the book at a time. settle delays the settlement of its fills.
type lateOrder struct {
	At     market.Time
	Order  market.OrderID
	Settle market.Duration `json:",omitzero"`
}

// add takes an order.
func (l *lateOrders) add(one lateOrder) {
	place, _ := slices.BinarySearchFunc(l.orders, one.At, func(x lateOrder, at market.Time) int {
		if x.At <= at {
			return -1
		}
		return 1
	})
	l.orders = slices.Insert(l.orders, place, one)
}

func (l *lateOrders) due() market.Time {
	if len(l.orders) == 0 {
		return never
	}
	return l.orders[0].At
}

func (l *lateOrders) run(at market.Time) {
	one := l.orders[0]
	l.orders = slices.Delete(l.orders, 0, 1)
	l.ex.settleLater = one.Settle
	defer func() { l.ex.settleLater = 0 }()
	stood, err := l.ex.venue.Release(one.Order, at)
	if err != nil {
		l.ex.fail(err)
	}
	if o := l.ex.venue.Order(one.Order); stood && o != nil { // it rests now; the venue reports no such change
		count, _ := countOf(o.ExchangeID, o.Market, nameOfOrder)
		in := l.ex.listings[o.Market]
		r := in.orders.Get(market.OrderID(count))
		r.shown = true
		l.ex.touch(in)
		l.ex.store.markOrder(r)
	}
}
