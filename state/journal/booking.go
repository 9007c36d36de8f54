package journal

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// BookingKind says what a Booking records.
type BookingKind uint8

// The kinds.
const (
	BookedFill     BookingKind = iota + 1 // a fill of an own order
	BookedFee                             // the fee of an earlier fill that had none yet
	BookedTransfer                        // a balance that changed from outside
	BookedAdoption                        // a position, or money, that went from one strategy to another
)

var bookingNames = [...]string{"", "fill", "fee", "transfer", "adopt"}

// String returns the kind's name.
func (k BookingKind) String() string {
	if int(k) < len(bookingNames) {
		return bookingNames[k]
	}
	return fmt.Sprintf("booking(%d)", k)
}

// Booking is a row of the table of bookings. The account books a fill, a fee, a transfer or a part
// of an adoption, and the journal adds a row for it, in the same commit. The table keeps its rows
// for good: Prune leaves it whole.
type Booking struct {
	Number uint64 // from 1, without gaps
	Entry  uint64 // of the journal
	Kind   BookingKind

	// Fill is the fill, with Tag of its order. A BookedFee has Market, ID, Order, Fee and
	// FeeCurrency.
	Fill         market.Fill
	StrategyName string // of the fill or the transfer; also of a removed strategy; of an adoption: From
	Tag          string

	// Of a BookedTransfer:
	At     market.Time
	Asset  market.AssetID
	Money  market.Money // that came, or left where negative
	Market market.ID    // whose position it moved; 0: none
	Price  market.Price // what it cost, in the units of Market; 0: not known
	Worth  Worth

	// Of a BookedAdoption, with At, Asset, Money, Market (0: it is in no position) and Worth.Value:
	To   string       // the strategy that has it from here on
	Cost market.Value // of the position
}

// Worth is a transfer as the account saw it, in the account's currency.
type Worth struct {
	Known  bool         // false: an asset had no price
	Value  market.Money // of what moved, signed like Money
	Equity market.Money // of the account, after it
}

// feeBooked is the booking of a fee that came after its fill.
func feeBooked(f *market.Fill) Booking {
	return Booking{Kind: BookedFee, Fill: market.Fill{Market: f.Market, ID: f.ID, Order: f.Order, Fee: f.Fee,
		FeeCurrency: f.FeeCurrency, Settled: true}}
}

func (e *recordEncoder) booking(b *Booking) {
	e.Byte(byte(b.Kind))
	e.Uint(b.Entry)
	switch f := &b.Fill; b.Kind {
	case BookedTransfer:
		e.Int(int64(b.At))
		e.Text(b.StrategyName)
		e.Asset(b.Asset)
		e.Int(int64(b.Money))
		e.Market(b.Market)
		e.Int(int64(b.Price))
		e.Flags(b.Worth.Known)
		e.Int(int64(b.Worth.Value))
		e.Int(int64(b.Worth.Equity))
	case BookedAdoption:
		e.adopted(b)
	case BookedFee:
		e.Market(f.Market)
		e.UUID(f.ID)
		e.Int(int64(f.Order))
		e.Asset(f.FeeCurrency)
		e.Value(f.Fee)
	default:
		e.Market(f.Market)
		e.UUID(f.ID)
		e.Int(int64(f.Order))
		e.Text(b.StrategyName)
		e.Byte(byte(f.Side))
		e.Flags(f.Taker, f.Settled)
		e.Asset(f.FeeCurrency)
		e.Int(int64(f.Price))
		e.Int(int64(f.Amount))
		e.Value(f.Fee)
		e.Int(int64(f.Time))
		e.Text(b.Tag)
	}
}

// booking reads a booking over another one, whose names it takes where they repeat.
func (d *recordDecoder) booking(b *Booking) {
	strategy, tag := b.StrategyName, b.Tag
	*b = Booking{Kind: codec.Enum(&d.Decoder, BookedAdoption), Entry: d.Uint()}
	switch f := &b.Fill; b.Kind {
	case BookedTransfer:
		b.At = market.Time(d.Int())
		b.StrategyName = d.TextLike(strategy)
		b.Asset = d.Asset()
		b.Money = market.Money(d.Int())
		b.Market = d.Market()
		b.Price = d.Price()
		d.Flags(&b.Worth.Known)
		b.Worth.Value, b.Worth.Equity = market.Money(d.Int()), market.Money(d.Int())
	case BookedAdoption:
		d.adopted(b)
	case BookedFee:
		f.Market = d.Market()
		f.ID = d.UUID()
		f.Order = market.OrderID(d.Int())
		f.FeeCurrency = d.Asset()
		f.Fee = d.Value()
		f.Settled = true
	case BookedFill:
		f.Market = d.Market()
		f.ID = d.UUID()
		f.Order = market.OrderID(d.Int())
		b.StrategyName, f.Strategy = d.StrategyLike(strategy)
		f.Side = codec.Enum(&d.Decoder, market.Sell)
		d.Flags(&f.Taker, &f.Settled)
		f.FeeCurrency = d.Asset()
		f.Price = d.Price()
		f.Amount = market.Qty(d.Int())
		f.Fee = d.Value()
		f.Time = market.Time(d.Int())
		b.Tag = d.TextLike(tag)
	default:
		d.Fail("a booking of kind 0")
	}
}
