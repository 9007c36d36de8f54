package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Check returns the first inconsistency of the account: holds that differ from the sum of the open
// orders' reserves and the claims, wrong counters, holds of closed orders, a best price that is not
// the best, a cost without an amount, or a position that differs from its history. It also returns
// an allocation that holds more than it has. A sound account can be short like that: a market buy
// fills dearer than its hold, or money leaves the exchange. Restore takes such an account.
func (a *Account) Check() error {
	if err := (checks{a}).consistent(); err != nil {
		return err
	}
	return checks{a}.covered()
}

// checks are the comparisons of Check, each of an account's sums with a look at all that they sum.
type checks struct{ *Account }

// covered returns the first allocation that holds more than it has. Payments and the holds of an
// order's rest are both rounded up, so a partly filled order may hold one unit more than the
// balance.
func (a checks) covered() error {
	partly := a.empty()
	for _, o := range a.Open(nil, 0, 0) {
		if a.orders.Get(o.ID).counted > 0 {
			partly[a.allocationOf[o.Strategy]][o.OnHoldCurrency]++
		}
	}
	for p, allocation := range a.allocations {
		for asset, b := range allocation {
			if b.Total+partly[p][asset] < b.Held {
				return fmt.Errorf("allocation %d asset %d has %d and holds %d", p, asset, b.Total, b.Held)
			}
		}
	}
	return nil
}

// consistent is Check without whether the money covers the holds.
func (a checks) consistent() error {
	held, open := a.empty(), a.Open(nil, 0, 0)
	for i := range open {
		o := a.orders.Get(open[i].ID)
		if err := checkOrder(open, i, o); err != nil {
			return err
		}
		held[a.allocationOf[o.Strategy]][o.OnHoldCurrency] += o.OnHold
	}
	claimed := make([]int, len(a.openOf))
	for _, c := range a.claims {
		held[a.allocationOf[c.strategy]][c.asset] += c.money
		if c.slot {
			claimed[c.strategy]++
		}
	}
	for s := range claimed {
		if a.openOf[s].claimed != claimed[s] {
			return fmt.Errorf("strategy %d counts %d slots of orders that wait and has %d", s, a.openOf[s].claimed,
				claimed[s])
		}
	}
	if err := a.lists(); err != nil {
		return err
	}
	for p, allocation := range a.allocations {
		for asset, b := range allocation {
			if b.Held != held[p][asset] {
				return fmt.Errorf("allocation %d asset %d holds %d, its open orders %d", p, asset, b.Held,
					held[p][asset])
			}
			if b.Held < 0 {
				return fmt.Errorf("allocation %d asset %d holds %d", p, asset, b.Held)
			}
		}
	}
	if err := a.holds(open); err != nil {
		return err
	}
	if err := a.equities(); err != nil {
		return err
	}
	return a.positions()
}

// holds compares the holds by market and side with the open orders and the claims.
func (a checks) holds(open []*market.Order) error {
	want := make([][sides]market.Money, len(a.openIn))
	for _, o := range open {
		want[o.Market][o.Side] += o.OnHold
	}
	for i := range a.claims {
		want[a.claims[i].market][a.claims[i].side] += a.claims[i].money
	}
	for m := range want {
		if a.openIn[m].holds != want[m] {
			return fmt.Errorf("market %d counts the holds %v by side and has %v", m, a.openIn[m].holds, want[m])
		}
	}
	return nil
}

// equities compares the equity in each asset with the sum over all markets.
func (a checks) equities() error {
	for _, currency := range a.catalog.Assets() {
		_, equity, err := a.CashAndEquity(currency.ID)
		want, overflow := a.sum(currency.ID), error(nil)
		for _, m := range a.catalog.Markets() {
			if m.Quote != currency.ID || overflow != nil {
				continue
			}
			var value market.Money
			if value, overflow = m.Notional(a.marks[m.ID].price, market.Qty(a.sum(m.Base))); overflow == nil {
				want, overflow = market.Add(want, value)
			}
		}
		if (err == nil) != (overflow == nil) || err == nil && equity != want {
			return fmt.Errorf("equity in %s is %d (%v), by market %d (%v)", currency.Symbol, equity, err, want,
				overflow)
		}
	}
	return nil
}

// empty returns a zero for each allocation and asset.
func (a *Account) empty() [][]market.Money {
	sums := make([][]market.Money, len(a.allocations))
	for i := range sums {
		sums[i] = make([]market.Money, len(a.catalog.Assets())+1)
	}
	return sums
}

// checkOrder checks the order at place i among all open ones; o is the order that its id names.
func checkOrder(open []*market.Order, i int, o *Order) error {
	switch {
	case i > 0 && open[i-1].ID >= open[i].ID:
		return fmt.Errorf("order %d stands behind order %d", open[i].ID, open[i-1].ID)
	case o == nil || &o.Order != open[i]:
		return fmt.Errorf("order %d is open and not known", open[i].ID)
	case o.State.Terminal():
		return fmt.Errorf("order %d is %s and still open", o.ID, o.State)
	case !o.ByQuote() && o.FilledAmount+o.AmountRemaining != o.Amount:
		return fmt.Errorf("order %d: filled %d and remaining %d are not amount %d", o.ID, o.FilledAmount,
			o.AmountRemaining, o.Amount)
	}
	return nil
}

// positions compares the positions with their histories and costs.
func (a checks) positions() error {
	for s, seats := range a.seats {
		for m := range seats {
			p := seats[m].position
			if p.Amount < 0 || (p.Amount == 0 && p.Cost.Sign() != 0) {
				return fmt.Errorf("strategy %d market %d: amount %d with cost %s", s, m, p.Amount, p.Cost)
			}
			r := a.historyOf(market.StrategyID(s), market.ID(m))
			if r == nil {
				continue
			}
			worked, err := r.replay(a.catalog.Market(market.ID(m)))
			if err != nil {
				return fmt.Errorf("strategy %d market %d: history: %w", s, m, err)
			}
			if worked != p {
				return fmt.Errorf("strategy %d market %d: position %+v, by its history %+v", s, m, p, worked)
			}
		}
	}
	return nil
}
