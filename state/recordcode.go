package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// recordVersion begins every stored order, fill, position and journal entry; a decoder reads this one and all before it.
//
// Version 2: an Intent holds the terms as they were asked for, a Refusal the rounded terms, its value and limit, and how many it stands for.
const recordVersion = 2

func (d *recordDecoder) version() byte {
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
func (e *recordEncoder) order(o *market.Order) {
	e.uuid(o.ClientOrderID)
	e.market(o.Market)
	e.int(int64(o.ID))
	e.uuid(o.ExchangeID)
	e.int(o.OperatorID)
	e.strategy(o.Strategy)
	e.uint(uint64(o.CodGroupID))
	for _, enum := range [...]byte{byte(o.Side), byte(o.Type), byte(o.Status), byte(o.TimeInForce), byte(o.SelfTradePrevention), byte(o.TriggerType),
		byte(o.TriggerReference), byte(o.RestatementReason)} {
		e.byte(enum)
	}
	e.flags(o.PostOnly, o.Visible, o.Triggered)
	e.asset(o.FeeCurrency)
	e.asset(o.OnHoldCurrency)
	for _, n := range [...]int64{int64(o.Price), int64(o.TriggerAmount), int64(o.Amount), int64(o.AmountRemaining), int64(o.AmountQuote),
		int64(o.AmountQuoteRemaining), int64(o.OnHold), int64(o.FilledAmount)} {
		e.int(n)
	}
	e.value(o.FilledAmountQuote)
	e.value(o.FeePaid)
	e.int(int64(o.Created))
	e.int(int64(o.Updated))
	e.int(int64(o.Bracket.Stop))
	e.int(int64(o.Bracket.Target))
	e.byte(byte(o.Bracket.Keep))
	e.text(o.Tag)
}

// order reads an order and the name of its strategy.
func (d *recordDecoder) order(o *market.Order) (strategy string) {
	o.ClientOrderID = d.uuid()
	o.Market = d.market()
	o.ID = market.OrderID(d.int())
	o.ExchangeID = d.uuid()
	o.OperatorID = d.int()
	strategy, o.Strategy = d.strategy()
	o.CodGroupID = uint16(d.uint())
	o.Side = enum(&d.decoder, market.Sell)
	o.Type = enum(&d.decoder, market.TypeTakeProfitLimit)
	o.Status = enum(&d.decoder, market.StatusUnresolved)
	o.TimeInForce = enum(&d.decoder, market.FOK)
	o.SelfTradePrevention = enum(&d.decoder, market.CancelBoth)
	o.TriggerType = enum(&d.decoder, market.TriggerPrice)
	o.TriggerReference = enum(&d.decoder, market.MidPrice)
	o.RestatementReason = enum(&d.decoder, market.CancelPostOnly)
	d.flags(&o.PostOnly, &o.Visible, &o.Triggered)
	o.FeeCurrency = d.asset()
	o.OnHoldCurrency = d.asset()
	o.Price, o.TriggerAmount = d.price(), d.price()
	o.Amount, o.AmountRemaining = market.Qty(d.int()), market.Qty(d.int())
	o.AmountQuote, o.AmountQuoteRemaining = market.Money(d.int()), market.Money(d.int())
	o.OnHold, o.FilledAmount = market.Money(d.int()), market.Qty(d.int())
	o.FilledAmountQuote, o.FeePaid = d.value(), d.value()
	o.Created, o.Updated = market.Time(d.int()), market.Time(d.int())
	o.Bracket.Stop, o.Bracket.Target = d.price(), d.price()
	o.Bracket.Keep = enum(&d.decoder, market.KeepTarget)
	o.Tag = d.text()
	return strategy
}

func (e *recordEncoder) fill(f *market.Fill) {
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
func (d *recordDecoder) fill(f *market.Fill) (strategy string) {
	f.Market = d.market()
	f.ID = d.uuid()
	f.Order = market.OrderID(d.int())
	strategy, f.Strategy = d.strategy()
	f.Side = enum(&d.decoder, market.Sell)
	d.flags(&f.Taker, &f.Settled)
	f.FeeCurrency = d.asset()
	f.Price = d.price()
	f.Amount = market.Qty(d.int())
	f.Fee = d.value()
	f.Time = market.Time(d.int())
	return strategy
}

func (e *recordEncoder) report(r *market.Report) {
	e.market(r.Market)
	e.byte(byte(r.Exec))
	e.int(int64(r.Order))
	e.uuid(r.ExchangeID)
	for _, enum := range [...]byte{byte(r.Status), byte(r.RestatementReason), byte(r.TimeInForce), byte(r.SelfTradePrevention)} {
		e.byte(enum)
	}
	e.flags(r.PostOnly, r.Triggered)
	e.byte(byte(r.Command))
	for _, n := range [...]int64{int64(r.Code), int64(r.Price), int64(r.TriggerAmount), int64(r.Amount), int64(r.AmountRemaining), int64(r.AmountQuote),
		int64(r.AmountQuoteRemaining), int64(r.OnHold), int64(r.FilledAmount)} {
		e.int(n)
	}
	e.value(r.FilledAmountQuote)
	e.value(r.FeePaid)
	e.int(int64(r.Updated))
}

func (d *recordDecoder) report(r *market.Report) {
	r.Market = d.market()
	r.Exec = enum(&d.decoder, market.ExecUnknown)
	r.Order = market.OrderID(d.int())
	r.ExchangeID = d.uuid()
	r.Status = enum(&d.decoder, market.StatusUnresolved)
	r.RestatementReason = enum(&d.decoder, market.CancelPostOnly)
	r.TimeInForce = enum(&d.decoder, market.FOK)
	r.SelfTradePrevention = enum(&d.decoder, market.CancelBoth)
	d.flags(&r.PostOnly, &r.Triggered)
	r.Command = enum(&d.decoder, market.CommandPlace)
	r.Code = int(d.int())
	r.Price, r.TriggerAmount = d.price(), d.price()
	r.Amount, r.AmountRemaining = market.Qty(d.int()), market.Qty(d.int())
	r.AmountQuote, r.AmountQuoteRemaining = market.Money(d.int()), market.Money(d.int())
	r.OnHold, r.FilledAmount = market.Money(d.int()), market.Qty(d.int())
	r.FilledAmountQuote, r.FeePaid = d.value(), d.value()
	r.Updated = market.Time(d.int())
}

func (e *recordEncoder) command(c *market.Command) {
	e.byte(byte(c.Kind))
	e.uint(uint64(c.Changed))
	e.flags(c.Attached)
	e.int(int64(c.At))
	e.order(&c.Order)
}

func (d *recordDecoder) command(c *market.Command) (strategy string) {
	c.Kind = enum(&d.decoder, market.CommandPlace)
	c.Changed = market.Change(d.uint())
	d.flags(&c.Attached)
	c.At = market.Time(d.int())
	return d.order(&c.Order)
}

func (e *recordEncoder) position(p *market.Position) {
	e.int(int64(p.Amount))
	e.value(p.Cost)
	e.value(p.Realised)
	e.value(p.Fees)
	e.int(int64(p.Opened))
}

func (d *recordDecoder) position(p *market.Position) {
	p.Amount = market.Qty(d.int())
	p.Cost, p.Realised, p.Fees = d.value(), d.value(), d.value()
	p.Opened = market.Time(d.int())
}
