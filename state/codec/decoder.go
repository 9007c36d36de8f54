package codec

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Decoder reads what an Encoder wrote. It keeps the first error; later reads return zero. Damaged
// bytes never make it panic, and no text, bytes or list is longer than the remaining bytes. Errors
// wrap bolt.ErrCorrupt.
type Decoder struct {
	*Names
	src    []byte
	err    error
	units  units
	volume int64 // factor of a stored volume, of the market that Listed read last
}

// units are those of the market read last, in the record.
type units struct {
	price int64 // factor of a stored price
	value uint8 // decimals that a stored value lacks
}

// Open begins to read src, with the names of n.
func (d *Decoder) Open(n *Names, src []byte) {
	*d = Decoder{Names: n, src: src, units: units{price: 1}}
}

// Err returns the first error, nil for none.
func (d *Decoder) Err() error { return d.err }

// Left returns the number of unread bytes: 0 after an error.
func (d *Decoder) Left() int { return len(d.src) }

// Fail stops the reading with an error that wraps bolt.ErrCorrupt. The first error stays.
func (d *Decoder) Fail(format string, args ...any) {
	if d.err == nil {
		d.Refuse(fmt.Errorf("%w: "+format, append([]any{bolt.ErrCorrupt}, args...)...))
	}
}

// Refuse stops the reading with an error of the caller. The first error stays.
func (d *Decoder) Refuse(err error) {
	if d.err == nil {
		d.err = err
	}
	d.src = nil
}

// End returns the first error; unread bytes are an error too.
func (d *Decoder) End() error {
	if d.err == nil && len(d.src) > 0 {
		d.Fail("%d bytes too many", len(d.src))
	}
	return d.err
}

// Take returns the next n bytes of the source, which the caller must not change.
func (d *Decoder) Take(n uint64) []byte {
	if n > uint64(len(d.src)) {
		d.Fail("%d bytes wanted where %d are left", n, len(d.src))
		return nil
	}
	head := d.src[:n]
	d.src = d.src[n:]
	return head
}

// Byte reads one byte.
func (d *Decoder) Byte() byte {
	if b := d.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint reads a number of Encoder.Uint.
func (d *Decoder) Uint() uint64 {
	n, size := binary.Uvarint(d.src)
	if size <= 0 {
		d.Fail("no number")
		return 0
	}
	d.src = d.src[size:]
	return n
}

// Int reads a number of Encoder.Int.
func (d *Decoder) Int() int64 {
	n, size := binary.Varint(d.src)
	if size <= 0 {
		d.Fail("no number")
		return 0
	}
	d.src = d.src[size:]
	return n
}

// UUID reads 16 bytes.
func (d *Decoder) UUID() (id uuid.UUID) {
	copy(id[:], d.Take(uint64(len(id))))
	return id
}

// Text reads a text.
func (d *Decoder) Text() string { return string(d.Take(d.Uint())) }

// TextLike reads a text and returns same where they are equal: a text that repeats is made once.
func (d *Decoder) TextLike(same string) string {
	if text := d.Take(d.Uint()); string(text) != same {
		return string(text)
	}
	return same
}

// Bytes returns a copy of the bytes, nil for none.
func (d *Decoder) Bytes() []byte {
	if b := d.Take(d.Uint()); len(b) > 0 {
		return slices.Clone(b)
	}
	return nil
}

// Flags reads one byte into up to eight booleans. A bit beyond them is an error.
func (d *Decoder) Flags(flags ...*bool) {
	b := d.Byte()
	for i, flag := range flags {
		*flag = b&(1<<i) != 0
	}
	if b>>len(flags) != 0 {
		d.Fail("flags %b", b)
	}
}

// Count reads the number of items, of at least one byte each, that follow. A loop over them should
// end with the first error, so that a damaged record makes no list of zeros:
//
//	for n := d.Count(); n > 0 && d.Err() == nil; n-- {
func (d *Decoder) Count() int {
	n := d.Uint()
	if n > uint64(len(d.src)) {
		d.Fail("%d items in %d bytes", n, len(d.src))
		return 0
	}
	return int(n)
}

// Enum reads one byte, at most last.
func Enum[T ~uint8](d *Decoder, last T) T {
	b := T(d.Byte())
	if b > last {
		d.Fail("%T %d", last, b)
		return 0
	}
	return b
}

// Value reads a 128-bit number, in units of the market read last.
func (d *Decoder) Value() market.Value {
	var high, low uint64
	for shift := uint(0); ; shift += 7 {
		b := d.Byte()
		part := uint64(b & 0x7f)
		if shift >= 64 {
			high |= part << (shift - 64)
		} else {
			low |= part << shift
			high |= part >> (64 - shift)
		}
		if shift == 126 && b > 3 { // more than 128 bits
			d.Fail("value too long")
			return market.Value{}
		}
		if b < 0x80 {
			break
		}
	}
	sign := -(low & 1)
	v, err := market.ValueOfHalves(int64(high>>1^sign), (low>>1|high<<63)^sign)
	if err == nil && d.units.value > 0 {
		v, err = v.ScaleUp(d.units.value)
	}
	if err != nil {
		d.Fail("%w", err)
	}
	return v
}

// Price reads a price in units of the market read last.
func (d *Decoder) Price() market.Price { return d.PriceOf(d.Int()) }

// PriceOf is a stored price in units of the market read last.
func (d *Decoder) PriceOf(n int64) market.Price {
	if d.units.price == 1 {
		return market.Price(n)
	}
	high, low := bits.Mul64(uint64(max(n, -n)), uint64(d.units.price))
	if high != 0 || low>>63 != 0 {
		d.Fail("price %d × %d: %w", n, d.units.price, market.ErrOverflow)
		return 0
	}
	if n < 0 {
		return -market.Price(low)
	}
	return market.Price(low)
}

// Market reads a market, 0 for none. The prices and values that follow are read in its units.
func (d *Decoder) Market() market.ID {
	name := d.Take(d.Uint())
	if len(name) == 0 || d.err != nil {
		return 0
	}
	digits := d.Byte()
	m := d.markets[string(name)]
	switch {
	case d.err != nil:
		return 0
	case m == nil:
		d.Fail("market %q is not of this catalog", name)
		return 0
	case digits > m.PriceDigits:
		d.Fail("%s has %d price decimals, the record %d", name, m.PriceDigits, digits)
		return 0
	}
	d.units = unitsOf(m, digits)
	return m.ID
}

// OtherMarket reads a market without changing the units of prices and values.
func (d *Decoder) OtherMarket() market.ID {
	before := d.units
	id := d.Market()
	d.units = before
	return id
}

// Asset reads an asset's symbol and returns its number in this process.
func (d *Decoder) Asset() market.AssetID {
	symbol := d.Text()
	if symbol == "" {
		return 0
	}
	a := d.assets[symbol]
	if a == nil {
		d.Fail("asset %q is not of this catalog", symbol)
		return 0
	}
	return a.ID
}

// Strategy reads a strategy's name and returns its number in this process, 0 if there is none of
// that name.
func (d *Decoder) Strategy() (string, market.StrategyID) { return d.StrategyLike("") }

// StrategyLike is Strategy with the name taken from same where they are equal: see TextLike.
func (d *Decoder) StrategyLike(same string) (string, market.StrategyID) {
	name := d.TextLike(same)
	return name, d.strategyID(name)
}
