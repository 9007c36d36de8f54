package state

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// countFillsAlone books the fills of an event that does not change the order's state. An ended
// order that waited for them is forgotten.
func (a *Account) countFillsAlone(o *Order, ev *market.Event) (fresh int, err error) {
	fresh, freed, err := a.countFills(o, ev)
	a.release(o, freed)
	if err == nil && o.State.Terminal() && o.complete() {
		a.forget(o)
	}
	return fresh, err
}

// applyFills books fills that came without a report.
func (a *Account) applyFills(ev *market.Event) (Applied, error) {
	if len(ev.Fills) == 0 {
		return Applied{}, nil
	}
	o := a.orders.Get(ev.Fills[0].Order)
	if o == nil {
		a.countForeign(ev.Fills[0].Order)
		return Applied{}, nil
	}
	fresh, err := a.countFillsAlone(o, ev)
	return Applied{Order: o, Fresh: fresh}, err
}

// countFills books the new fills of an event and moves them to the front of its list. freed is the
// part of the order's hold that they have used up, as far as no report has told of them.
func (a *Account) countFills(o *Order, ev *market.Event) (fresh int, freed market.Money, err error) {
	for i := range ev.Fills {
		f := &ev.Fills[i]
		if len(o.fills) > 0 {
			if mark := o.markOf(f); mark != nil {
				if err := a.settle(o, f, mark); err != nil {
					return fresh, freed, err
				}
				continue
			}
		}
		used, err := a.applyFill(o, f)
		if err != nil {
			return fresh, freed, fillError(o, f, err)
		}
		if o.counted > o.FilledAmount {
			freed += max(0, used)
		}
		if fresh < i {
			ev.Fills[fresh], ev.Fills[i] = ev.Fills[i], ev.Fills[fresh]
		}
		fresh++
	}
	return fresh, freed, nil
}

// fillError says which fill an error is about.
//
//go:noinline
func fillError(o *Order, f *market.Fill, err error) error {
	return fmt.Errorf("order %d, fill %s: %w", o.ID, f.ID, err)
}

// settle books the fee of a counted fill, if it has come now.
func (a *Account) settle(o *Order, f *market.Fill, mark *fillMark) error {
	if !f.Settled || mark.settled {
		return nil
	}
	if err := a.applyFee(o, f); err != nil {
		return fillError(o, f, err)
	}
	mark.settled, a.changed = true, true
	a.touch(o)
	o.unsettled--
	return nil
}

// fewFills is up to how many fills of an order are searched one by one.
const fewFills = 32

// addMark remembers a counted fill.
func (o *Order) addMark(f *market.Fill) {
	n := len(o.fills)
	if n == cap(o.fills) || o.index != nil {
		o.makeRoom(f)
	}
	o.fills = o.fills[:n+1]
	mark := &o.fills[n] // field by field: a literal would be built elsewhere and copied
	mark.id, mark.settled = f.ID, f.Settled
}

// makeRoom prepares for one more mark.
func (o *Order) makeRoom(f *market.Fill) {
	o.fills = slices.Grow(o.fills, 1)
	if o.index != nil {
		o.index[f.ID] = len(o.fills)
	}
}

// markOf is the mark of a counted fill, or nil.
func (o *Order) markOf(f *market.Fill) *fillMark {
	if len(o.fills) > fewFills {
		return o.lookUp(f.ID)
	}
	for i := len(o.fills) - 1; i >= 0; i-- {
		if o.fills[i].id == f.ID {
			return &o.fills[i]
		}
	}
	return nil
}

// lookUp finds a fill among many.
func (o *Order) lookUp(id uuid.UUID) *fillMark {
	if o.index == nil {
		o.index = make(map[uuid.UUID]int, 2*len(o.fills))
		for i := range o.fills {
			o.index[o.fills[i].id] = i
		}
	}
	if at, known := o.index[id]; known {
		return &o.fills[at]
	}
	return nil
}

// feeOf is the known fee of a fill: none before it is settled.
func feeOf(f *market.Fill) (fee market.Value) {
	if f.Settled {
		fee = f.Fee
	}
	return fee
}

// applyFill counts and books one new fill. used is what it took of what the order held.
func (a *Account) applyFill(o *Order, f *market.Fill) (used market.Money, err error) {
	if used, err = a.book(o, f); err != nil {
		return 0, err
	}
	o.counted += f.Amount
	o.addMark(f)
	if !f.Settled {
		o.unsettled++
	}
	return used, nil
}

// book books one new fill: base, quote and position. used is what it took of what the order held.
func (a *Account) book(o *Order, f *market.Fill) (used market.Money, err error) {
	l := o.seat
	m := l.market
	gross, err := m.Value(f.Price, f.Amount)
	if err != nil {
		return 0, err
	}
	cash, err := cashOf(o.Side, gross, feeOf(f))
	if err != nil {
		return 0, err
	}
	money, err := cash.FloorMoney(m.MoneyDrop())
	if err != nil {
		return 0, err
	}
	amount := market.Money(f.Amount)
	if o.Side == market.Sell {
		amount = -amount
	}
	base, quote := l.held[market.Sell], l.held[market.Buy]
	baseTotal, err := market.Add(base.Total, amount)
	if err != nil {
		return 0, err
	}
	quoteTotal, err := market.Add(quote.Total, money)
	if err != nil {
		return 0, err
	}
	if f.Settled && a.window == 0 && a.histories == nil {
		err = bookFill(&l.position, o.Side, f.Amount, f.Time, f.Fee, cash)
	} else {
		err = a.trade(o, m, f)
	}
	if err != nil {
		return 0, err
	}
	base.Total, quote.Total = baseTotal, quoteTotal
	a.outdate(l.valued)
	a.changed = true
	a.touch(o)
	return max(-amount, -money), nil // a sell held the base that left, a buy the quote
}

// trade folds a fill into its position and the position's history. On an error nothing has changed.
func (a *Account) trade(o *Order, m *market.Market, f *market.Fill) error {
	now := step{order: o.ID, id: f.ID, at: f.Time, side: o.Side, amount: f.Amount, price: f.Price, fee: feeOf(f),
		settled: f.Settled}
	position, r, err := a.ensureHistory(o.Strategy, o.Market).insert(m, now)
	if err != nil {
		return err
	}
	a.seats[o.Strategy][o.Market].position = position
	a.keepHistory(o.Strategy, o.Market, r)
	return nil
}

// cashOf is the change in quote by a fill, fee included.
func cashOf(side market.Side, gross, fee market.Value) (market.Value, error) {
	if side == market.Sell {
		return gross.Sub(fee)
	}
	cost, err := gross.Add(fee)
	return cost.Neg(), err
}

// applyFee books a fee that was unknown when its fill was counted.
func (a *Account) applyFee(o *Order, f *market.Fill) error {
	m := a.catalog.Market(o.Market)
	paid, err := o.FeePaid.Add(f.Fee)
	if err != nil {
		return err
	}
	money, err := feeMoney(m, o.Side, f)
	if err != nil {
		return err
	}
	position, r := a.seats[o.Strategy][o.Market].position, a.historyOf(o.Strategy, o.Market)
	if r != nil {
		position, r, err = r.settle(m, o.Side, f)
	} else {
		position, err = charge(position, o.Side, f.Fee)
	}
	if err != nil {
		return err
	}
	quote := &a.balances[o.Strategy][m.Quote]
	total, err := market.Add(quote.Total, money)
	if err != nil {
		return err
	}
	quote.Total = total
	a.outdate(a.values.based[m.Quote])
	a.seats[o.Strategy][o.Market].position = position
	a.keepHistory(o.Strategy, o.Market, r)
	o.FeePaid = paid
	return nil
}

// feeMoney is the change in quote by the fee of a counted fill. The fill alone was rounded down;
// with its fee it is a whole number of units, so the fee takes the difference.
func feeMoney(m *market.Market, side market.Side, f *market.Fill) (market.Money, error) {
	gross, err := m.Value(f.Price, f.Amount)
	if err != nil {
		return 0, err
	}
	var money [2]market.Money
	for i, fee := range [2]market.Value{{}, f.Fee} {
		cash, err := cashOf(side, gross, fee)
		if err != nil {
			return 0, err
		}
		if money[i], err = cash.FloorMoney(m.MoneyDrop()); err != nil {
			return 0, err
		}
	}
	return market.Add(money[1], -money[0])
}

// charge books a fee on a position whose history does not have its fill.
func charge(p market.Position, side market.Side, fee market.Value) (market.Position, error) {
	fees, err := p.Fees.Add(fee)
	if err != nil {
		return p, err
	}
	p.Fees = fees
	if side == market.Buy && p.Amount > 0 {
		p.Cost, err = p.Cost.Add(fee)
	} else {
		p.Realised, err = p.Realised.Sub(fee)
	}
	return p, err
}
