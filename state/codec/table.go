package codec

import (
	"github.com/tidemark-trading/tidemark/market"
)

// Table numbers the markets of a block by their first use, so that a record has one byte where it
// would have a name. Encoder and Decoder keep one each, and empty it where a block begins.
type Table struct {
	numbers []uint64 // of the encoder: by market.ID; 0: not used in this block
	markets []listed // of the decoder, and the count of the encoder
}

// listed is a market of a block.
type listed struct {
	id     market.ID
	units  units
	volume int64 // factor of a stored volume
}

// Reset empties a table.
func (t *Table) Reset() {
	clear(t.numbers)
	t.markets = t.markets[:0]
}

// Listed appends the number of a market in a table; at its first use its name, its price decimals
// and its volume decimals follow. 0 is no market. It returns the place of the market in the table,
// from 0, and -1 for none.
func (e *Encoder) Listed(t *Table, id market.ID) int {
	switch {
	case id == 0:
		e.Uint(0)
		return -1
	case int(id) > len(e.catalog.Markets()):
		e.Fail("market %d is not of this catalog", id)
		return -1
	}
	for len(t.numbers) <= int(id) {
		t.numbers = append(t.numbers, 0)
	}
	if t.numbers[id] == 0 {
		t.markets = append(t.markets, listed{id: id})
		t.numbers[id] = uint64(len(t.markets))
		e.Uint(t.numbers[id])
		m := e.catalog.Market(id)
		e.Text(m.Name)
		e.Byte(m.PriceDigits)
		e.Byte(m.VolumeDigits)
		return len(t.markets) - 1
	}
	e.Uint(t.numbers[id])
	return int(t.numbers[id]) - 1
}

// Forget drops the markets of a table from a count on, because the record that used them first is
// cut.
func (t *Table) Forget(count int) {
	for _, l := range t.markets[count:] {
		t.numbers[l.id] = 0
	}
	t.markets = t.markets[:count]
}

// Len is the number of markets in a table.
func (t *Table) Len() int { return len(t.markets) }

// Place is the place of a market in an encoder's table, from 0; -1: the block has not used it yet.
func (t *Table) Place(id market.ID) int {
	if int(id) >= len(t.numbers) {
		return -1
	}
	return int(t.numbers[id]) - 1
}

// Listed reads what Encoder.Listed wrote. The prices, values and volumes that follow are read in
// the market's units.
func (d *Decoder) Listed(t *Table) (id market.ID, place int) {
	n := d.Uint()
	if n-1 >= uint64(len(t.markets)) {
		if n == 0 {
			return 0, -1
		}
		if d.list(t, n); d.err != nil {
			return 0, -1
		}
	}
	l := &t.markets[n-1]
	d.units, d.volume = l.units, l.volume
	return l.id, int(n) - 1
}

// list reads the name of a market at its first use.
func (d *Decoder) list(t *Table, n uint64) {
	if n != uint64(len(t.markets))+1 {
		d.Fail("market %d of %d", n, len(t.markets))
		return
	}
	name := d.Text()
	price, volume := d.Byte(), d.Byte()
	m := d.markets[name]
	switch {
	case d.err != nil:
		return
	case m == nil:
		d.Fail("market %q is not of this catalog", name)
		return
	case price > m.PriceDigits || volume > m.VolumeDigits:
		d.Fail("%s has %d price and %d volume decimals, the record %d and %d", name, m.PriceDigits, m.VolumeDigits,
			price, volume)
		return
	}
	t.markets = append(t.markets, listed{m.ID, unitsOf(m, price), market.Pow10(m.VolumeDigits - volume)})
}

// unitsOf are the units of a record with these price decimals.
func unitsOf(m *market.Market, digits uint8) units {
	return units{price: market.Pow10(m.PriceDigits - digits),
		value: m.ValueDigits - max(digits+m.AmountDigits, m.QuoteDigits)}
}

// Volume reads a volume in units of the market that Listed read last.
func (d *Decoder) Volume() market.Volume {
	return market.Volume(d.Int()) * market.Volume(max(1, d.volume))
}
