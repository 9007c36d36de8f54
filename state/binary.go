package state

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Records of the state file and of the recording are sequences of these, without names or padding:
//
//	uint, id      unsigned LEB128
//	int           zigzag, then LEB128
//	value         128-bit zigzag, then LEB128
//	bytes, text   length, then the bytes
//	flags         up to eight booleans in one byte
//	uuid          16 bytes
//	market        name as text and its price decimals; prices and values that follow are in its units. No market: empty text alone
//	asset         symbol as text
//	strategy      name as text
//
// Names stand for the numbers that markets, assets and strategies have in one process only, so that a file can be read by a
// program whose config lists others.

// names turns the numbers of one process into names and back.
type names struct {
	catalog    *market.Catalog
	strategies []string // by StrategyID; the first is empty
	markets    map[string]*market.Market
	assets     map[string]*market.Asset
}

func newNames(catalog *market.Catalog, strategies []string) *names {
	n := &names{catalog: catalog, strategies: append([]string{""}, strategies...), markets: map[string]*market.Market{}, assets: map[string]*market.Asset{}}
	for _, m := range catalog.Markets() {
		n.markets[m.Name] = m
	}
	for _, a := range catalog.Assets() {
		n.assets[a.Symbol] = a
	}
	return n
}

// strategyName is empty for no strategy, and for one that the engine does not have.
func (n *names) strategyName(id market.StrategyID) string {
	if int(id) < len(n.strategies) {
		return n.strategies[id]
	}
	return ""
}

func (n *names) strategyID(name string) market.StrategyID {
	return market.StrategyID(max(0, slices.Index(n.strategies, name)))
}

// encoder appends to a buffer. What it cannot write is the caller's mistake; the first is kept in err.
type encoder struct {
	*names
	dst     []byte
	err     error
	scratch market.Order // a copy of the one being written: tables of fields want it on the heap
}

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

func (e *encoder) byte(b byte)       { e.dst = append(e.dst, b) }
func (e *encoder) uint(n uint64)     { e.dst = binary.AppendUvarint(e.dst, n) }
func (e *encoder) int(n int64)       { e.dst = binary.AppendVarint(e.dst, n) }
func (e *encoder) uuid(id uuid.UUID) { e.dst = append(e.dst, id[:]...) }

func (e *encoder) text(s string) {
	e.uint(uint64(len(s)))
	e.dst = append(e.dst, s...)
}

func (e *encoder) bytes(b []byte) {
	e.uint(uint64(len(b)))
	e.dst = append(e.dst, b...)
}

func (e *encoder) flags(flags ...bool) {
	var b byte
	for i, set := range flags {
		if set {
			b |= 1 << i
		}
	}
	e.byte(b)
}

func (e *encoder) value(v market.Value) {
	hi, lo := v.Words()
	sign := uint64(hi >> 63)
	high, low := (uint64(hi)<<1|lo>>63)^sign, lo<<1^sign
	for high != 0 || low >= 0x80 {
		e.byte(byte(low) | 0x80)
		low = low>>7 | high<<57
		high >>= 7
	}
	e.byte(byte(low))
}

func (e *encoder) market(id market.ID) {
	switch {
	case id == 0:
		e.text("")
	case int(id) > len(e.catalog.Markets()):
		e.fail("market %d is not of this catalog", id)
	default:
		m := e.catalog.Market(id)
		e.text(m.Name)
		e.byte(m.PriceDigits)
	}
}

func (e *encoder) asset(id market.AssetID) {
	switch {
	case id == 0:
		e.text("")
	case int(id) > len(e.catalog.Assets()):
		e.fail("asset %d is not of this catalog", id)
	default:
		e.text(e.catalog.Asset(id).Symbol)
	}
}

func (e *encoder) strategy(id market.StrategyID) {
	if int(id) >= len(e.strategies) {
		e.fail("strategy %d is none of %d", id, len(e.strategies)-1)
		return
	}
	e.text(e.strategies[id])
}

// decoder reads what an encoder wrote. After the first error, which is kept, everything reads as zero.
type decoder struct {
	*names
	src       []byte
	err       error
	priceUnit int64 // of the market read last: what a stored price is multiplied by
	valueUp   uint8 // and by how many decimals a stored value is too coarse
}

func (d *decoder) open(n *names, src []byte) {
	*d = decoder{names: n, src: src, priceUnit: 1}
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
	}
	d.src = nil
}

// end returns the error, or one that says that something was left over.
func (d *decoder) end() error {
	if d.err == nil && len(d.src) > 0 {
		d.fail("%d bytes too many", len(d.src))
	}
	return d.err
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.src)) {
		d.fail("%d bytes wanted where %d are left", n, len(d.src))
		return nil
	}
	head := d.src[:n]
	d.src = d.src[n:]
	return head
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint() uint64 {
	n, size := binary.Uvarint(d.src)
	if size <= 0 {
		d.fail("no number")
		return 0
	}
	d.src = d.src[size:]
	return n
}

func (d *decoder) int() int64 {
	n, size := binary.Varint(d.src)
	if size <= 0 {
		d.fail("no number")
		return 0
	}
	d.src = d.src[size:]
	return n
}

func (d *decoder) uuid() (id uuid.UUID) {
	copy(id[:], d.take(uint64(len(id))))
	return id
}

func (d *decoder) text() string { return string(d.take(d.uint())) }

// bytes returns a copy, nil for none.
func (d *decoder) bytes() []byte {
	if b := d.take(d.uint()); len(b) > 0 {
		return slices.Clone(b)
	}
	return nil
}

func (d *decoder) flags(flags ...*bool) {
	b := d.byte()
	for i, flag := range flags {
		*flag = b&(1<<i) != 0
	}
	if b>>len(flags) != 0 {
		d.fail("flags %b", b)
	}
}

// count reads how many things of at least one byte each follow.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.src)) {
		d.fail("%d things in %d bytes", n, len(d.src))
		return 0
	}
	return int(n)
}

// enum reads one byte that may be at most last.
func enum[T ~uint8](d *decoder, last T) T {
	b := T(d.byte())
	if b > last {
		d.fail("%T %d", last, b)
		return 0
	}
	return b
}

func (d *decoder) value() market.Value {
	var high, low uint64
	for shift := uint(0); ; shift += 7 {
		b := d.byte()
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
			d.fail("value too long")
			return market.Value{}
		}
	}
	sign := -(low & 1)
	v, err := market.ValueOfWords(int64(high>>1^sign), (low>>1|high<<63)^sign)
	if err == nil && d.valueUp > 0 {
		v, err = v.ScaleUp(d.valueUp)
	}
	if err != nil {
		d.fail("%w", err)
	}
	return v
}

// price reads a price in units of the market read last.
func (d *decoder) price() market.Price {
	n := d.int()
	if d.priceUnit == 1 {
		return market.Price(n)
	}
	high, low := bits.Mul64(uint64(max(n, -n)), uint64(d.priceUnit))
	if high != 0 || low>>63 != 0 {
		d.fail("price %d × %d: %w", n, d.priceUnit, market.ErrOverflow)
		return 0
	}
	if n < 0 {
		return -market.Price(low)
	}
	return market.Price(low)
}

// market reads which one the rest of the record is about.
func (d *decoder) market() market.ID {
	name := d.text()
	if name == "" || d.err != nil {
		return 0
	}
	digits := d.byte()
	m := d.markets[name]
	switch {
	case d.err != nil:
		return 0
	case m == nil:
		d.fail("market %q is not of this catalog", name)
		return 0
	case digits > m.PriceDigits:
		d.fail("%s has %d price decimals, the record %d", name, m.PriceDigits, digits)
		return 0
	}
	d.priceUnit = market.Pow10(m.PriceDigits - digits)
	d.valueUp = m.ValueDigits - max(digits+m.AmountDigits, m.QuoteDigits)
	return m.ID
}

func (d *decoder) asset() market.AssetID {
	symbol := d.text()
	if symbol == "" {
		return 0
	}
	a := d.assets[symbol]
	if a == nil {
		d.fail("asset %q is not of this catalog", symbol)
		return 0
	}
	return a.ID
}

// strategy reads a strategy's name, and the number that it has in this process: 0 for one that the engine does not have.
func (d *decoder) strategy() (string, market.StrategyID) {
	name := d.text()
	return name, d.strategyID(name)
}
