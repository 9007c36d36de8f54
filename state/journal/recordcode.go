package journal

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// recordVersion is the version of every stored order, fill, position and journal entry. A decoder
// reads this version and all before it.
//
//   - 2: the signals of a Cause; Signal.Past.
const recordVersion = 2

func (d *recordDecoder) version() {
	d.of = d.Byte()
	switch v := d.of; {
	case v == 0: // also after an error, which Fail keeps
		d.Fail("record of version 0")
	case v > recordVersion:
		d.Refuse(fmt.Errorf("%w: record of version %d, this program reads %d; update the program",
			bolt.ErrNewer, v, recordVersion))
	}
}

// order begins with the client order id: clientIDOf reads it there.
func (e *recordEncoder) order(o *market.Order) {
	e.UUID(o.ClientOrderID)
	e.Market(o.Market)
	e.Int(int64(o.ID))
	e.UUID(o.ExchangeID)
	e.Int(o.OperatorID)
	e.Strategy(o.Strategy)
	e.Uint(uint64(o.CodGroupID))
	putFields(e, orderWords, o)
	e.Flags(o.PostOnly, o.Visible, o.Triggered)
	e.Asset(o.FeeCurrency)
	e.Asset(o.OnHoldCurrency)
	putFields(e, stateFields, &o.OrderState)
	putFields(e, orderEnd, o)
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
	getFields(d, orderWords, o)
	d.Flags(&o.PostOnly, &o.Visible, &o.Triggered)
	o.FeeCurrency = d.Asset()
	o.OnHoldCurrency = d.Asset()
	getFields(d, stateFields, &o.OrderState)
	getFields(d, orderEnd, o)
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
	for _, enum := range [...]byte{byte(r.Status), byte(r.RestatementReason), byte(r.TimeInForce),
		byte(r.SelfTradePrevention)} {
		e.Byte(enum)
	}
	e.Flags(r.PostOnly, r.Triggered)
	e.Byte(byte(r.Command))
	e.Int(int64(r.Code))
	putFields(e, stateFields, &r.OrderState)
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
	getFields(d, stateFields, &r.OrderState)
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
