package journal

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// recordVersion begins every stored order, fill, position and journal entry; a decoder reads this one and all before it.
//
// Version 2: an Intent holds the terms as they were asked for, a Refusal the rounded terms, its value and limit, and how many it stands for.
const recordVersion = 2

func (d *recordDecoder) version() byte {
	v := d.Byte()
	switch {
	case d.Err == nil && v == 0:
		d.Fail("record of version 0")
	case d.Err == nil && v > recordVersion:
		d.Err, d.Src = fmt.Errorf("%w: record of version %d, this program reads %d; update the program", boltfile.ErrNewer, v, recordVersion), nil
	}
	return v
}

// order begins with the client order id: clientIDOf looks for it there.
func (e *recordEncoder) order(o *market.Order) {
	e.UUID(o.ClientOrderID)
	e.Market(o.Market)
	e.Int(int64(o.ID))
	e.UUID(o.ExchangeID)
	e.Int(o.OperatorID)
	e.Strategy(o.Strategy)
	e.Uint(uint64(o.CodGroupID))
	for _, enum := range [...]byte{byte(o.Side), byte(o.Type), byte(o.Status), byte(o.TimeInForce), byte(o.SelfTradePrevention), byte(o.TriggerType),
		byte(o.TriggerReference), byte(o.RestatementReason)} {
		e.Byte(enum)
	}
	e.Flags(o.PostOnly, o.Visible, o.Triggered)
	e.Asset(o.FeeCurrency)
	e.Asset(o.OnHoldCurrency)
	for _, n := range [...]int64{int64(o.Price), int64(o.TriggerAmount), int64(o.Amount), int64(o.AmountRemaining), int64(o.AmountQuote),
		int64(o.AmountQuoteRemaining), int64(o.OnHold), int64(o.FilledAmount)} {
		e.Int(n)
	}
	e.Value(o.FilledAmountQuote)
	e.Value(o.FeePaid)
	e.Int(int64(o.Created))
	e.Int(int64(o.Updated))
	e.Int(int64(o.Bracket.Stop))
	e.Int(int64(o.Bracket.Target))
	e.Byte(byte(o.Bracket.Keep))
	e.Text(o.Tag)
}

// order reads an order and the name of its strategy.
func (d *recordDecoder) order(o *market.Order) (strategy string) {
	o.ClientOrderID = d.UUID()
	o.Market = d.Market()
	o.ID = market.OrderID(d.Int())
	o.ExchangeID = d.UUID()
	o.OperatorID = d.Int()
	strategy, o.Strategy = d.Strategy()
	o.CodGroupID = uint16(d.Uint())
	o.Side = codec.Enum(&d.Decoder, market.Sell)
	o.Type = codec.Enum(&d.Decoder, market.TypeTakeProfitLimit)
	o.Status = codec.Enum(&d.Decoder, market.StatusUnresolved)
	o.TimeInForce = codec.Enum(&d.Decoder, market.FOK)
	o.SelfTradePrevention = codec.Enum(&d.Decoder, market.CancelBoth)
	o.TriggerType = codec.Enum(&d.Decoder, market.TriggerPrice)
	o.TriggerReference = codec.Enum(&d.Decoder, market.MidPrice)
	o.RestatementReason = codec.Enum(&d.Decoder, market.CancelPostOnly)
	d.Flags(&o.PostOnly, &o.Visible, &o.Triggered)
	o.FeeCurrency = d.Asset()
	o.OnHoldCurrency = d.Asset()
	o.Price, o.TriggerAmount = d.Price(), d.Price()
	o.Amount, o.AmountRemaining = market.Qty(d.Int()), market.Qty(d.Int())
	o.AmountQuote, o.AmountQuoteRemaining = market.Money(d.Int()), market.Money(d.Int())
	o.OnHold, o.FilledAmount = market.Money(d.Int()), market.Qty(d.Int())
	o.FilledAmountQuote, o.FeePaid = d.Value(), d.Value()
	o.Created, o.Updated = market.Time(d.Int()), market.Time(d.Int())
	o.Bracket.Stop, o.Bracket.Target = d.Price(), d.Price()
	o.Bracket.Keep = codec.Enum(&d.Decoder, market.KeepTarget)
	o.Tag = d.Text()
	return strategy
}

func (e *recordEncoder) fill(f *market.Fill) {
	e.Market(f.Market)
	e.UUID(f.ID)
	e.Int(int64(f.Order))
	e.Strategy(f.Strategy)
	e.Byte(byte(f.Side))
	e.Flags(f.Taker, f.Settled)
	e.Asset(f.FeeCurrency)
	e.Int(int64(f.Price))
	e.Int(int64(f.Amount))
	e.Value(f.Fee)
	e.Int(int64(f.Time))
}

// fill reads a fill and the name of its strategy.
func (d *recordDecoder) fill(f *market.Fill) (strategy string) {
	f.Market = d.Market()
	f.ID = d.UUID()
	f.Order = market.OrderID(d.Int())
	strategy, f.Strategy = d.Strategy()
	f.Side = codec.Enum(&d.Decoder, market.Sell)
	d.Flags(&f.Taker, &f.Settled)
	f.FeeCurrency = d.Asset()
	f.Price = d.Price()
	f.Amount = market.Qty(d.Int())
	f.Fee = d.Value()
	f.Time = market.Time(d.Int())
	return strategy
}

func (e *recordEncoder) report(r *market.Report) {
	e.Market(r.Market)
	e.Byte(byte(r.Exec))
	e.Int(int64(r.Order))
	e.UUID(r.ExchangeID)
	for _, enum := range [...]byte{byte(r.Status), byte(r.RestatementReason), byte(r.TimeInForce), byte(r.SelfTradePrevention)} {
		e.Byte(enum)
	}
	e.Flags(r.PostOnly, r.Triggered)
	e.Byte(byte(r.Command))
	for _, n := range [...]int64{int64(r.Code), int64(r.Price), int64(r.TriggerAmount), int64(r.Amount), int64(r.AmountRemaining), int64(r.AmountQuote),
		int64(r.AmountQuoteRemaining), int64(r.OnHold), int64(r.FilledAmount)} {
		e.Int(n)
	}
	e.Value(r.FilledAmountQuote)
	e.Value(r.FeePaid)
	e.Int(int64(r.Updated))
}

func (d *recordDecoder) report(r *market.Report) {
	r.Market = d.Market()
	r.Exec = codec.Enum(&d.Decoder, market.ExecUnknown)
	r.Order = market.OrderID(d.Int())
	r.ExchangeID = d.UUID()
	r.Status = codec.Enum(&d.Decoder, market.StatusUnresolved)
	r.RestatementReason = codec.Enum(&d.Decoder, market.CancelPostOnly)
	r.TimeInForce = codec.Enum(&d.Decoder, market.FOK)
	r.SelfTradePrevention = codec.Enum(&d.Decoder, market.CancelBoth)
	d.Flags(&r.PostOnly, &r.Triggered)
	r.Command = codec.Enum(&d.Decoder, market.CommandPlace)
	r.Code = int(d.Int())
	r.Price, r.TriggerAmount = d.Price(), d.Price()
	r.Amount, r.AmountRemaining = market.Qty(d.Int()), market.Qty(d.Int())
	r.AmountQuote, r.AmountQuoteRemaining = market.Money(d.Int()), market.Money(d.Int())
	r.OnHold, r.FilledAmount = market.Money(d.Int()), market.Qty(d.Int())
	r.FilledAmountQuote, r.FeePaid = d.Value(), d.Value()
	r.Updated = market.Time(d.Int())
}

func (e *recordEncoder) command(c *market.Command) {
	e.Byte(byte(c.Kind))
	e.Uint(uint64(c.Changed))
	e.Flags(c.Attached)
	e.Int(int64(c.At))
	e.order(&c.Order)
}

func (d *recordDecoder) command(c *market.Command) (strategy string) {
	c.Kind = codec.Enum(&d.Decoder, market.CommandPlace)
	c.Changed = market.Change(d.Uint())
	d.Flags(&c.Attached)
	c.At = market.Time(d.Int())
	return d.order(&c.Order)
}

func (e *recordEncoder) position(p *market.Position) {
	e.Int(int64(p.Amount))
	e.Value(p.Cost)
	e.Value(p.Realised)
	e.Value(p.Fees)
	e.Int(int64(p.Opened))
}

func (d *recordDecoder) position(p *market.Position) {
	p.Amount = market.Qty(d.Int())
	p.Cost, p.Realised, p.Fees = d.Value(), d.Value(), d.Value()
	p.Opened = market.Time(d.Int())
}
