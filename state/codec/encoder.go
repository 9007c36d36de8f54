package codec

import (
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Encoder appends to Buf. A market, asset or strategy that is not in its names is a mistake of the
// caller; the first mistake is kept until Cut.
type Encoder struct {
	*Names
	Buf []byte // the caller may append and overwrite bytes
	err error
}

// Err returns the first mistake, nil for none.
func (e *Encoder) Err() error { return e.err }

// Cut shortens Buf to its first n bytes, keeps its memory, and forgets the mistake.
func (e *Encoder) Cut(n int) { e.Buf, e.err = e.Buf[:n], nil }

// Fail stores an error. The first error stays.
func (e *Encoder) Fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

// Byte appends one byte.
func (e *Encoder) Byte(b byte) { e.Buf = append(e.Buf, b) }

// Uint appends a number as unsigned LEB128.
func (e *Encoder) Uint(n uint64) {
	if n < 0x80 {
		e.Buf = append(e.Buf, byte(n))
		return
	}
	e.Buf = binary.AppendUvarint(e.Buf, n)
}

// Int appends a number as zigzag LEB128.
func (e *Encoder) Int(n int64) { e.Uint(uint64(n)<<1 ^ uint64(n>>63)) }

// UUID appends 16 bytes.
func (e *Encoder) UUID(id uuid.UUID) { e.Buf = append(e.Buf, id[:]...) }

// Text appends a length and the text.
func (e *Encoder) Text(s string) {
	e.Uint(uint64(len(s)))
	e.Buf = append(e.Buf, s...)
}

// Bytes appends a length and the bytes.
func (e *Encoder) Bytes(b []byte) {
	e.Uint(uint64(len(b)))
	e.Buf = append(e.Buf, b...)
}

// Flags appends up to eight booleans as one byte, the first in the lowest bit.
func (e *Encoder) Flags(flags ...bool) {
	var b byte
	for i, set := range flags {
		if set {
			b |= 1 << i
		}
	}
	e.Byte(b)
}

// Value appends a 128-bit number as zigzag LEB128.
func (e *Encoder) Value(v market.Value) {
	hi, lo := v.Halves()
	sign := uint64(hi >> 63)
	high, low := (uint64(hi)<<1|lo>>63)^sign, lo<<1^sign
	for high != 0 || low >= 0x80 {
		e.Byte(byte(low) | 0x80)
		low = low>>7 | high<<57
		high >>= 7
	}
	e.Byte(byte(low))
}

// Market appends a market's name and its price decimals; 0 is an empty name alone.
func (e *Encoder) Market(id market.ID) {
	switch {
	case id == 0:
		e.Text("")
	case int(id) > len(e.catalog.Markets()):
		e.Fail("market %d is not of this catalog", id)
	default:
		m := e.catalog.Market(id)
		e.Text(m.Name)
		e.Byte(m.PriceDigits)
	}
}

// Asset appends an asset's symbol; 0 is an empty one.
func (e *Encoder) Asset(id market.AssetID) {
	switch {
	case id == 0:
		e.Text("")
	case int(id) > len(e.catalog.Assets()):
		e.Fail("asset %d is not of this catalog", id)
	default:
		e.Text(e.catalog.Asset(id).Symbol)
	}
}

// Strategy appends a strategy's name; 0 is an empty one.
func (e *Encoder) Strategy(id market.StrategyID) {
	if int(id) >= len(e.strategies) {
		e.Fail("strategy %d is none of %d", id, len(e.strategies)-1)
		return
	}
	e.Text(e.strategies[id])
}
