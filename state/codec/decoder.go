package codec

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// Decoder reads what an encoder wrote. After the first error, which is kept, everything reads as zero.
type Decoder struct {
	*Names
	Src       []byte
	Err       error
	priceUnit int64 // of the market read last: what a stored price is multiplied by
	valueUp   uint8 // and by how many decimals a stored value is too coarse
}

// Open begins to read src, whose names are those of n.
func (d *Decoder) Open(n *Names, src []byte) {
	*d = Decoder{Names: n, Src: src, priceUnit: 1}
}

// Fail keeps an error, which wraps boltfile.ErrCorrupt, unless there is one. Everything after it reads as zero.
func (d *Decoder) Fail(format string, args ...any) {
	if d.Err == nil {
		d.Err = fmt.Errorf("%w: "+format, append([]any{boltfile.ErrCorrupt}, args...)...)
	}
	d.Src = nil
}

// End returns the error, or one that says that something was left over.
func (d *Decoder) End() error {
	if d.Err == nil && len(d.Src) > 0 {
		d.Fail("%d bytes too many", len(d.Src))
	}
	return d.Err
}

// Take returns the next n bytes of the source, which the caller must not change.
func (d *Decoder) Take(n uint64) []byte {
	if n > uint64(len(d.Src)) {
		d.Fail("%d bytes wanted where %d are left", n, len(d.Src))
		return nil
	}
	head := d.Src[:n]
	d.Src = d.Src[n:]
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
	n, size := binary.Uvarint(d.Src)
	if size <= 0 {
		d.Fail("no number")
		return 0
	}
	d.Src = d.Src[size:]
	return n
}

// Int reads a number of Encoder.Int.
func (d *Decoder) Int() int64 {
	n, size := binary.Varint(d.Src)
	if size <= 0 {
		d.Fail("no number")
		return 0
	}
	d.Src = d.Src[size:]
	return n
}

// UUID reads 16 bytes.
func (d *Decoder) UUID() (id uuid.UUID) {
	copy(id[:], d.Take(uint64(len(id))))
	return id
}

// Text reads a text.
func (d *Decoder) Text() string { return string(d.Take(d.Uint())) }

// Bytes returns a copy, nil for none.
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

// Count reads how many things of at least one byte each follow.
func (d *Decoder) Count() int {
	n := d.Uint()
	if n > uint64(len(d.Src)) {
		d.Fail("%d things in %d bytes", n, len(d.Src))
		return 0
	}
	return int(n)
}

// Enum reads one byte that may be at most last.
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
		if b < 0x80 {
			break
		}
		if shift > 119 {
			d.Fail("value too long")
			return market.Value{}
		}
	}
	sign := -(low & 1)
	v, err := market.ValueOfWords(int64(high>>1^sign), (low>>1|high<<63)^sign)
	if err == nil && d.valueUp > 0 {
		v, err = v.ScaleUp(d.valueUp)
	}
	if err != nil {
		d.Fail("%w", err)
	}
	return v
}

// Price reads a price in units of the market read last.
func (d *Decoder) Price() market.Price {
	n := d.Int()
	if d.priceUnit == 1 {
		return market.Price(n)
	}
	high, low := bits.Mul64(uint64(max(n, -n)), uint64(d.priceUnit))
	if high != 0 || low>>63 != 0 {
		d.Fail("price %d × %d: %w", n, d.priceUnit, market.ErrOverflow)
		return 0
	}
	if n < 0 {
		return -market.Price(low)
	}
	return market.Price(low)
}

// Market reads which one the rest of the record is about.
func (d *Decoder) Market() market.ID {
	name := d.Text()
	if name == "" || d.Err != nil {
		return 0
	}
	digits := d.Byte()
	m := d.markets[name]
	switch {
	case d.Err != nil:
		return 0
	case m == nil:
		d.Fail("market %q is not of this catalog", name)
		return 0
	case digits > m.PriceDigits:
		d.Fail("%s has %d price decimals, the record %d", name, m.PriceDigits, digits)
		return 0
	}
	d.priceUnit = market.Pow10(m.PriceDigits - digits)
	d.valueUp = m.ValueDigits - max(digits+m.AmountDigits, m.QuoteDigits)
	return m.ID
}

// Asset reads an asset's symbol and returns its number in this process.
func (d *Decoder) Asset() market.AssetID {
	symbol := d.Text()
	if symbol == "" {
		return 0
	}
	a := d.Assets[symbol]
	if a == nil {
		d.Fail("asset %q is not of this catalog", symbol)
		return 0
	}
	return a.ID
}

// Strategy reads a strategy's name, and the number that it has in this process: 0 for one that the engine does not have.
func (d *Decoder) Strategy() (string, market.StrategyID) {
	name := d.Text()
	return name, d.strategyID(name)
}
