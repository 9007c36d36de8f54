package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// recordVersion begins every stored order, fill, position and journal entry; a decoder reads this one and all before it.
//
// Version 2: an Intent holds the terms as they were asked for, a Refusal the rounded terms, its value and limit, and how many it stands for.
const recordVersion = 2

func (d *decoder) version() byte {
	v := d.byte()
	switch {
	case d.err == nil && v == 0:
		d.fail("record of version 0")
	case d.err == nil && v > recordVersion:
		d.err, d.src = fmt.Errorf("%w: record of version %d, this program reads %d; update the program", ErrNewer, v, recordVersion), nil
	}
	return v
}

// order begins with the client order id: clientIDOf looks for it there.
func (e *encoder) order(o *market.Order) {
	e.uuid(o.ClientOrderID)
	e.market(o.Market)
	e.int(int64(o.ID))
	e.uuid(o.ExchangeID)
	e.int(o.OperatorID)
	e.strategy(o.Strategy)
	e.uint(uint64(o.CodGroupID))
	e.scratch = *o
	putFields(e, orderWords, &e.scratch)
	e.flags(o.PostOnly, o.Visible, o.Triggered)
	e.asset(o.FeeCurrency)
	e.asset(o.OnHoldCurrency)
	putFields(e, stateFields, &e.scratch.OrderState)
	putFields(e, orderEnd, &e.scratch)
}

// order reads an order and the name of its strategy.
func (d *decoder) order(o *market.Order, version byte) (strategy string) {
	o.ClientOrderID = d.uuid()
	o.Market = d.market()
	o.ID = market.OrderID(d.int())
	o.ExchangeID = d.uuid()
	o.OperatorID = d.int()
	strategy, o.Strategy = d.strategy()
	o.CodGroupID = uint16(d.uint())
	takeFields(d, version, orderWords, o)
	d.flags(&o.PostOnly, &o.Visible, &o.Triggered)
	o.FeeCurrency = d.asset()
	o.OnHoldCurrency = d.asset()
	takeFields(d, version, stateFields, &o.OrderState)
	takeFields(d, version, orderEnd, o)
	return strategy
}

func (e *encoder) fill(f *market.Fill) {
	e.market(f.Market)
	e.uuid(f.ID)
	e.int(int64(f.Order))
	e.strategy(f.Strategy)
	e.byte(byte(f.Side))
	e.flags(f.Taker, f.Settled)
	e.asset(f.FeeCurrency)
	e.int(int64(f.Price))
	e.int(int64(f.Amount))
	e.value(f.Fee)
	e.int(int64(f.Time))
}

// fill reads a fill and the name of its strategy.
func (d *decoder) fill(f *market.Fill) (strategy string) {
	f.Market = d.market()
	f.ID = d.uuid()
	f.Order = market.OrderID(d.int())
	strategy, f.Strategy = d.strategy()
	f.Side = enum(d, market.Sell)
	d.flags(&f.Taker, &f.Settled)
	f.FeeCurrency = d.asset()
	f.Price = d.price()
	f.Amount = market.Qty(d.int())
	f.Fee = d.value()
	f.Time = market.Time(d.int())
	return strategy
}

func (e *encoder) report(r *market.Report) {
	e.market(r.Market)
	e.byte(byte(r.Exec))
	e.int(int64(r.Order))
	e.uuid(r.ExchangeID)
	for _, word := range [...]byte{byte(r.Status), byte(r.RestatementReason), byte(r.TimeInForce), byte(r.SelfTradePrevention)} {
		e.byte(word)
	}
	e.flags(r.PostOnly, r.Triggered)
	e.byte(byte(r.Command))
	e.int(int64(r.Code))
	e.scratch.OrderState = r.OrderState
	putFields(e, stateFields, &e.scratch.OrderState)
	e.int(int64(r.Updated))
}

func (d *decoder) report(r *market.Report, version byte) {
	r.Market = d.market()
	r.Exec = enum(d, market.ExecUnknown)
	r.Order = market.OrderID(d.int())
	r.ExchangeID = d.uuid()
	r.Status = enum(d, market.StatusUnresolved)
	r.RestatementReason = enum(d, market.CancelPostOnly)
	r.TimeInForce = enum(d, market.FOK)
	r.SelfTradePrevention = enum(d, market.CancelBoth)
	d.flags(&r.PostOnly, &r.Triggered)
	r.Command = enum(d, market.CommandPlace)
	r.Code = int(d.int())
	takeFields(d, version, stateFields, &r.OrderState)
	r.Updated = market.Time(d.int())
}

func (e *encoder) command(c *market.Command) {
	e.byte(byte(c.Kind))
	e.uint(uint64(c.Changed))
	e.flags(c.Attached)
	e.int(int64(c.At))
	e.order(&c.Order)
}

func (d *decoder) command(c *market.Command, version byte) (strategy string) {
	c.Kind = enum(d, market.CommandPlace)
	c.Changed = market.Change(d.uint())
	d.flags(&c.Attached)
	c.At = market.Time(d.int())
	return d.order(&c.Order, version)
}

func (e *encoder) position(p *market.Position) {
	e.int(int64(p.Amount))
	e.value(p.Cost)
	e.value(p.Realised)
	e.value(p.Fees)
	e.int(int64(p.Opened))
}

func (d *decoder) position(p *market.Position) {
	p.Amount = market.Qty(d.int())
	p.Cost, p.Realised, p.Fees = d.value(), d.value(), d.value()
	p.Opened = market.Time(d.int())
}
