package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// foldAlone folds fills whose report says nothing new; a closed order that waited for them is forgotten.
func (a *Account) foldAlone(o *Order, ev *market.Event) (fresh int, err error) {
	fresh, err = a.fold(o, ev)
	if err == nil && o.State.Terminal() && o.complete() {
		a.retire(o)
	}
	return fresh, err
}

// applyFills folds fills that came without a report.
func (a *Account) applyFills(ev *market.Event) (Applied, error) {
	if len(ev.Fills) == 0 {
		return Applied{}, nil
	}
	o := a.orders.Get(ev.Fills[0].Order)
	if o == nil {
		a.countForeign(ev.Fills[0].Order)
		return Applied{}, nil
	}
	fresh, err := a.foldAlone(o, ev)
	return Applied{Order: o, Fresh: fresh}, err
}

// fold counts the fills of an event that were not counted before and moves them to the front.
func (a *Account) fold(o *Order, ev *market.Event) (fresh int, err error) {
	for i := range ev.Fills {
		f := &ev.Fills[i]
		mark := o.markOf(f)
		if mark == nil {
			if err := a.applyFill(o, f); err != nil {
				return fresh, fmt.Errorf("order %d, fill %s: %w", o.ID, f.ID, err)
			}
			if fresh < i {
				ev.Fills[fresh], ev.Fills[i] = ev.Fills[i], ev.Fills[fresh]
			}
			fresh++
			continue
		}
		if f.Settled && !mark.settled {
			if err := a.applyFee(o, f); err != nil {
				return fresh, fmt.Errorf("order %d, fill %s: %w", o.ID, f.ID, err)
			}
			mark.settled, a.changed = true, true
			o.unsettled--
		}
	}
	return fresh, nil
}

func (o *Order) markOf(f *market.Fill) *fillMark {
	for i := len(o.fills) - 1; i >= 0; i-- {
		if o.fills[i].id == f.ID {
			return &o.fills[i]
		}
	}
	return nil
}

// applyFill moves base and quote and the position for one new fill.
func (a *Account) applyFill(o *Order, f *market.Fill) error {
	m := a.catalog.Market(o.Market)
	gross, err := m.Value(f.Price, f.Amount)
	if err != nil {
		return err
	}
	cash, err := cashOf(o.Side, gross, f.Fee)
	if err != nil {
		return err
	}
	position := a.positions[o.Strategy][o.Market]
	if err := fillPosition(&position, f, o.Side, cash); err != nil {
		return err
	}
	amount := market.Money(f.Amount)
	if o.Side == market.Sell {
		amount = -amount
	}
	money, err := a.move(o, m, amount, cash)
	if err != nil {
		return err
	}
	a.positions[o.Strategy][o.Market] = position
	a.changed = true
	o.counted += f.Amount
	a.release(o, max(-amount, -money)) // a sell held the base that left, a buy the quote
	o.fills = append(o.fills, fillMark{id: f.ID, settled: f.Settled})
	if !f.Settled {
		o.unsettled++
	}
	return nil
}

// cashOf is what a fill changes in quote: what it cost, or what it brought, less the fee.
func cashOf(side market.Side, gross, fee market.Value) (market.Value, error) {
	if side == market.Sell {
		return gross.Sub(fee)
	}
	cost, err := gross.Add(fee)
	return cost.Neg(), err
}

// move changes the purse: amount of base and cash of quote, which loses its decimals beyond the asset's against us. It
// returns what it moved in quote.
func (a *Account) move(o *Order, m *market.Market, amount market.Money, cash market.Value) (market.Money, error) {
	purse := a.wallets[o.Strategy]
	money, err := cash.FloorMoney(m.MoneyDrop())
	if err != nil {
		return 0, err
	}
	quote, err := market.Add(purse[m.Quote].Total, money)
	if err != nil {
		return 0, err
	}
	base, err := market.Add(purse[m.Base].Total, amount)
	if err != nil {
		return 0, err
	}
	purse[m.Quote].Total, purse[m.Base].Total = quote, base
	return money, nil
}

// applyFee takes a fee that was not known when its fill was counted.
func (a *Account) applyFee(o *Order, f *market.Fill) (err error) {
	position := a.positions[o.Strategy][o.Market]
	paid, err := o.FeePaid.Add(f.Fee)
	if err != nil {
		return err
	}
	if position.Fees, err = position.Fees.Add(f.Fee); err != nil {
		return err
	}
	if o.Side == market.Buy && position.Amount > 0 {
		position.Cost, err = position.Cost.Add(f.Fee)
	} else {
		position.Realised, err = position.Realised.Sub(f.Fee)
	}
	if err != nil {
		return err
	}
	if _, err := a.move(o, a.catalog.Market(o.Market), 0, f.Fee.Neg()); err != nil {
		return err
	}
	a.positions[o.Strategy][o.Market] = position
	o.FeePaid = paid
	return nil
}

// fillPosition folds one fill into a position. A buy adds its cost, fee included. A sell takes its share of the cost, the
// last one the remainder; what is sold beyond the position was not bought by this strategy and brings no profit.
func fillPosition(p *market.Position, f *market.Fill, side market.Side, cash market.Value) (err error) {
	if p.Fees, err = p.Fees.Add(f.Fee); err != nil {
		return err
	}
	if side == market.Buy {
		if p.Amount == 0 {
			p.Opened = f.Time
		}
		amount, err := market.Add(p.Amount, f.Amount)
		if err != nil {
			return err
		}
		p.Amount = amount
		p.Cost, err = p.Cost.Sub(cash)
		return err
	}
	sold := min(f.Amount, p.Amount)
	if sold <= 0 {
		return nil
	}
	cost := p.Cost.Part(int64(sold), int64(p.Amount))
	gain, err := cash.Part(int64(sold), int64(f.Amount)).Sub(cost)
	if err != nil {
		return err
	}
	if p.Realised, err = p.Realised.Add(gain); err != nil {
		return err
	}
	if p.Cost, err = p.Cost.Sub(cost); err != nil {
		return err
	}
	p.Amount -= sold
	return nil
}
