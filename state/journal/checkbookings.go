package journal

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// journalled has the bookings by the journal's entries, for the check of their table.
type journalled struct {
	fills map[fillName]market.Fill // with the fee that was settled first
	moved map[uint64]*Transfer     // by number of the entry
	given map[uint64][]Booking     // of adoptions, likewise: those that the table must have
}

// note takes the fills or the transfer of an entry.
func (j *journalled) note(e *Entry) {
	if adopted, is := e.Record.(*Adoption); is {
		j.given[e.Number] = adopted.bookings()
	}
	fills, moved := bookedIn(e.Record)
	if moved != nil {
		j.moved[e.Number] = moved
	}
	for _, f := range fills {
		name := fillName{f.Order, f.ID}
		have, known := j.fills[name]
		switch {
		case f.Order == 0 || known && (have.Settled || !f.Settled):
		case known:
			have.Settled, have.Fee, have.FeeCurrency = true, f.Fee, f.FeeCurrency
			j.fills[name] = have
		default:
			j.fills[name] = f
		}
	}
}

// bookings checks the table of bookings against the journal, where Prune left the journal: each
// fill, fee and transfer stands in both, and is the same.
func (c *checker) bookings() {
	r := bookingReader{names: c.store.names, squeezer: c.store.packer.squeezer}
	booked := map[fillName]*market.Fill{}
	last := uint64(0)
	c.each(bucketBookings, func(key, row []byte) {
		c.note("bookings", r.pack(key, row, func(b *Booking) error {
			if c.report.Bookings++; b.Number != last+1 {
				c.flaw(fmt.Sprintf("booking %d", b.Number), "%d is the booking before it", last)
			}
			last = b.Number
			c.booking(b, booked)
			return nil
		}))
	})
	c.compareFills(booked)
	for entry := range c.journalled.moved {
		c.flaw(fmt.Sprintf("journal entry %d", entry), "the bookings lack its transfer")
	}
	for entry, left := range c.journalled.given {
		if len(left) > 0 {
			c.flaw(fmt.Sprintf("journal entry %d", entry), "the bookings lack a part of its adoption")
		}
	}
}

// booking checks a transfer at once, and collects the fills with their fees.
func (c *checker) booking(b *Booking, booked map[fillName]*market.Fill) {
	place, name := fmt.Sprintf("booking %d", b.Number), fillName{b.Fill.Order, b.Fill.ID}
	switch b.Kind {
	case BookedFill:
		if booked[name] != nil {
			c.flaw(place, "fill %s of order %d is booked twice", name.id, name.order)
		}
		fill := b.Fill
		booked[name] = &fill
	case BookedFee:
		fill := booked[name]
		if fill == nil || fill.Settled {
			c.flaw(place, "it settles the fee of no fill")
			return
		}
		fill.Settled, fill.Fee, fill.FeeCurrency = true, b.Fill.Fee, b.Fill.FeeCurrency
	case BookedTransfer:
		want := c.journalled.moved[b.Entry]
		have := Transfer{Asset: b.Asset, Money: b.Money, Strategy: b.StrategyName, Market: b.Market, Price: b.Price}
		if delete(c.journalled.moved, b.Entry); want == nil && b.Entry > c.from.number ||
			want != nil && *want != have {
			c.flaw(place, "it is not the transfer of journal entry %d", b.Entry)
		}
		return
	case BookedAdoption:
		c.adopted(place, b)
		return
	}
	if b.Entry > c.from.number {
		if _, there := c.journalled.fills[name]; !there {
			c.flaw(place, "the journal lacks fill %s of order %d", name.id, name.order)
		}
	}
}

// adopted checks a part of an adoption: the journal has it, in this place.
func (c *checker) adopted(place string, b *Booking) {
	left, known := c.journalled.given[b.Entry]
	if !known && b.Entry <= c.from.number {
		return
	}
	have := *b
	have.Number, have.Entry = 0, 0
	if len(left) == 0 || left[0] != have {
		c.flaw(place, "it is not that part of the adoption in journal entry %d", b.Entry)
		return
	}
	c.journalled.given[b.Entry] = left[1:]
}

// compareFills compares what the bookings and the journal have of each fill.
func (c *checker) compareFills(booked map[fillName]*market.Fill) {
	for name, want := range c.journalled.fills {
		place := fmt.Sprintf("fill %s of order %d", name.id, name.order)
		have := booked[name]
		if have == nil && has(c.tx.Bucket(bucketOrders), part(orderKey(name.order), partRow, nil)) {
			c.flaw(place, "the bookings lack it")
		}
		if have == nil {
			continue
		}
		same := have.Market == want.Market && have.Side == want.Side && have.Taker == want.Taker &&
			have.Price == want.Price && have.Amount == want.Amount && have.Settled == want.Settled &&
			(!want.Settled || have.Fee == want.Fee && have.FeeCurrency == want.FeeCurrency)
		if !same {
			c.flaw(place, "the bookings have another one")
		}
	}
}

// fillName names a fill of an own order.
type fillName struct {
	order market.OrderID
	id    uuid.UUID
}

// bookedIn returns the fills or the transfer of a journal entry.
func bookedIn(record Payload) (fills []market.Fill, moved *Transfer) {
	switch r := record.(type) {
	case *ReportEntry:
		return r.Fills, nil
	case *Fills:
		return r.Fills, nil
	case *Transfer:
		return nil, r
	}
	return nil, nil
}
