package journal

import (
	"context"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// fillName names a fill of an own order.
type fillName struct {
	order market.OrderID
	id    uuid.UUID
}

// deriver finds the bookings of a file of a format that has no table of them.
type deriver struct {
	names   *codec.Names
	orders  *bbolt.Bucket
	settled map[fillName]bool // of the fills so far
	last    uint64            // number of the last booking
	visit   func(*Booking) error
}

// derived calls visit with the bookings that follow from the journal, in its order, then with those
// of fills that the journal lacks, because a part of it is damaged.
func derived(ctx context.Context, tx *bbolt.Tx, n *codec.Names, s squeezer, visit func(*Booking) error) error {
	d := &deriver{names: n, orders: tx.Bucket(bucketOrders), settled: map[fillName]bool{}, visit: visit}
	journal := &entries{tx: tx, alone: tx.Bucket(bucketJournal), segments: tx.Bucket(bucketSegments), squeezer: s,
		damaged: func(_, _ []byte, _ error) error { return nil }}
	err := journal.forward(ctx, 0, func(key, value []byte) error {
		if len(value) <= entryHead {
			return nil
		}
		switch EntryKind(value[entryHead]) {
		case EntryReport, EntryFill, EntryTransfer, EntryAdopt:
		default:
			return nil
		}
		entry, err := readEntry(n, key, value)
		if err != nil {
			return nil // Check names it
		}
		return d.entry(&entry)
	})
	if err != nil {
		return err
	}
	return walkUntil(ctx, tx.Bucket(bucketFills), nil, func(key, value []byte) error {
		row, err := readFill(n, key, value)
		if err != nil {
			return nil // Check names it
		}
		return d.fill(0, &row.Fill)
	})
}

func (d *deriver) entry(e *Entry) error {
	if adopted, is := e.Record.(*Adoption); is {
		for _, b := range adopted.bookings() {
			b.Entry = e.Number
			if err := d.book(&b); err != nil {
				return err
			}
		}
		return nil
	}
	fills, moved := bookedIn(e.Record)
	if moved != nil {
		return d.book(&Booking{Kind: BookedTransfer, Entry: e.Number, StrategyName: moved.Strategy, At: e.At,
			Asset: moved.Asset, Money: moved.Money, Market: moved.Market, Price: moved.Price})
	}
	for i := range fills {
		if err := d.fill(e.Number, &fills[i]); err != nil {
			return err
		}
	}
	return nil
}

// bookedIn returns the fills or the transfer of a journal entry.
func bookedIn(record Record) (fills []market.Fill, moved *Transfer) {
	switch r := record.(type) {
	case *Report:
		return r.Fills, nil
	case *Fills:
		return r.Fills, nil
	case *Transfer:
		return nil, r
	}
	return nil, nil
}

// fill books a fill that is new, or whose fee is settled now.
func (d *deriver) fill(entry uint64, f *market.Fill) error {
	name := fillName{f.Order, f.ID}
	settled, known := d.settled[name]
	if f.Order == 0 || known && (settled || !f.Settled) {
		return nil
	}
	d.settled[name] = f.Settled
	if known {
		fee := feeBooked(f)
		fee.Entry = entry
		return d.book(&fee)
	}
	b := Booking{Kind: BookedFill, Entry: entry, Fill: *f}
	key := part(orderKey(f.Order), partRow, nil)
	if value := d.orders.Get(key); value != nil {
		if order, err := readOrder(d.names, key, value); err == nil {
			b.StrategyName, b.Tag = order.StrategyName, order.Tag
		}
	}
	return d.book(&b)
}

func (d *deriver) book(b *Booking) error {
	d.last++
	b.Number = d.last
	return d.visit(b)
}
