package codec

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"runtime"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// catalog has three assets and two markets, whose prices have these decimals.
func catalog(t require.TestingT, first, second uint8) *market.Catalog {
	c := &market.Catalog{}
	assets := []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "ETH", Digits: 6}, {Symbol: "EUR", Digits: 2}}
	for _, a := range assets {
		_, err := c.AddAsset(a.Symbol, a.Digits)
		require.NoError(t, err)
	}
	require.NoError(t, c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: first}))
	require.NoError(t, c.AddMarket(&market.Market{Name: "ETH-EUR", PriceDigits: second}))
	return c
}

var strategies = []string{"grid", "trend"}

// The twin writes a number digit by digit to the base of 128, with math/big and nothing else.
func twinUint(n *big.Int) (out []byte) {
	n, base, digit := new(big.Int).Set(n), big.NewInt(128), new(big.Int)
	for n.Cmp(base) >= 0 {
		n.DivMod(n, base, digit)
		out = append(out, byte(digit.Int64())|0x80)
	}
	return append(out, byte(n.Int64()))
}

// twinInt writes 0, -1, 1, -2, 2, … as 0, 1, 2, 3, 4, …
func twinInt(n *big.Int) []byte {
	double := new(big.Int).Lsh(n, 1)
	if n.Sign() < 0 {
		double.Sub(big.NewInt(-1), double)
	}
	return twinUint(double)
}

// twinRead reads a number of twinInt. ok is false where none of at most 128 bits stands.
func twinRead(src []byte) (n *big.Int, size int, ok bool) {
	n = new(big.Int)
	for i, b := range src {
		n.Or(n, new(big.Int).Lsh(big.NewInt(int64(b&0x7f)), uint(7*i)))
		if b < 0x80 {
			odd := n.Bit(0) == 1
			if n.BitLen() > 128 {
				return nil, 0, false
			}
			if n.Rsh(n, 1); odd {
				n.Sub(big.NewInt(-1), n)
			}
			return n, i + 1, true
		}
	}
	return nil, 0, false
}

func bigOf(v market.Value) *big.Int {
	hi, lo := v.Halves()
	n := new(big.Int).Lsh(big.NewInt(hi), 64)
	return n.Add(n, new(big.Int).SetUint64(lo))
}

func twinText(s string) []byte {
	return append(twinUint(big.NewInt(int64(len(s)))), s...)
}

// step is one thing of a record: how it is written, what the twin makes of it, and how it is read.
type step struct {
	name  string
	write func(e *Encoder)
	twin  []byte
	read  func(d *Decoder) any
	want  any
}

// steps draws one thing of a record. Numbers are drawn by their length in bits, so that every
// length is seen.
var steps = rapid.Custom(func(t *rapid.T) step {
	bits := func(most int) uint64 {
		return rapid.Uint64().Draw(t, "n") >> rapid.IntRange(64-most, 64).Draw(t, "shift")
	}
	signed := func() int64 { return rapid.Int64().Draw(t, "n") >> rapid.IntRange(0, 63).Draw(t, "shift") }
	switch rapid.IntRange(0, 11).Draw(t, "what") {
	case 0:
		n := bits(64)
		twin := twinUint(new(big.Int).SetUint64(n))
		return step{"uint", func(e *Encoder) { e.Uint(n) }, twin, func(d *Decoder) any { return d.Uint() }, n}
	case 1:
		n := signed()
		twin := twinInt(big.NewInt(n))
		return step{"int", func(e *Encoder) { e.Int(n) }, twin, func(d *Decoder) any { return d.Int() }, n}
	case 2:
		v, err := market.ValueOfHalves(signed(), rapid.Uint64().Draw(t, "low"))
		if err != nil {
			v = market.Value{}
		}
		twin := twinInt(bigOf(v))
		return step{"value", func(e *Encoder) { e.Value(v) }, twin, func(d *Decoder) any { return d.Value() }, v}
	case 3:
		b := byte(bits(8))
		return step{"byte", func(e *Encoder) { e.Byte(b) }, []byte{b}, func(d *Decoder) any { return d.Byte() }, b}
	case 4:
		s := rapid.String().Draw(t, "text")
		return step{"text", func(e *Encoder) { e.Text(s) }, twinText(s), func(d *Decoder) any { return d.Text() }, s}
	case 5:
		b := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "bytes")
		twin := twinText(string(b))
		return step{"bytes", func(e *Encoder) { e.Bytes(b) }, twin, func(d *Decoder) any { return d.Bytes() }, b}
	case 6:
		var id uuid.UUID
		binary.BigEndian.PutUint64(id[:], bits(64))
		return step{"uuid", func(e *Encoder) { e.UUID(id) }, id[:], func(d *Decoder) any { return d.UUID() }, id}
	case 7:
		return flagStep(rapid.SliceOfN(rapid.Bool(), 0, 8).Draw(t, "flags"))
	case 8:
		side := market.Side(rapid.IntRange(0, 2).Draw(t, "side"))
		read := func(d *Decoder) any { return Enum(d, market.Sell) }
		return step{"enum", func(e *Encoder) { e.Byte(byte(side)) }, []byte{byte(side)}, read, side}
	case 9:
		id := market.ID(rapid.IntRange(0, 2).Draw(t, "market"))
		twin := []byte{0}
		if id > 0 {
			twin = append(twinText([]string{"BTC-EUR", "ETH-EUR"}[id-1]), []byte{2, 5}[id-1])
		}
		return step{"market", func(e *Encoder) { e.Market(id) }, twin, func(d *Decoder) any { return d.Market() }, id}
	case 10:
		id := market.AssetID(rapid.IntRange(0, 3).Draw(t, "asset"))
		twin := twinText([]string{"", "BTC", "ETH", "EUR"}[id])
		return step{"asset", func(e *Encoder) { e.Asset(id) }, twin, func(d *Decoder) any { return d.Asset() }, id}
	default:
		id := market.StrategyID(rapid.IntRange(0, 2).Draw(t, "strategy"))
		name := []string{"", "grid", "trend"}[id]
		read := func(d *Decoder) any { name, id := d.Strategy(); return fmt.Sprint(name, id) }
		return step{"strategy", func(e *Encoder) { e.Strategy(id) }, twinText(name), read, fmt.Sprint(name, id)}
	}
})

func flagStep(flags []bool) step {
	var b byte
	for i, set := range flags {
		if set {
			b += 1 << i
		}
	}
	read := func(d *Decoder) any {
		back, into := make([]bool, len(flags)), []*bool{}
		for i := range back {
			into = append(into, &back[i])
		}
		d.Flags(into...)
		return back
	}
	return step{"flags", func(e *Encoder) { e.Flags(flags...) }, []byte{b}, read, flags}
}

func TestARecordIsTheTwinsBytesAndReadsAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := NewNames(catalog(t, 2, 5), strategies)
		e := Encoder{Names: n}
		list := rapid.SliceOfN(steps, 1, 20).Draw(t, "steps")
		for _, s := range list {
			from := len(e.Buf)
			s.write(&e)
			require.Equal(t, s.twin, e.Buf[from:], s.name)
		}
		require.NoError(t, e.Err())
		var d Decoder
		d.Open(n, e.Buf)
		for _, s := range list {
			require.Equal(t, s.want, s.read(&d), s.name)
		}
		require.NoError(t, d.End())

		cut := e.Buf[:rapid.IntRange(0, len(e.Buf)-1).Draw(t, "cut")]
		d.Open(n, cut)
		for _, s := range list {
			s.read(&d)
		}
		require.ErrorIs(t, d.End(), bolt.ErrCorrupt, "a record that is cut off")
	})
}

// A market whose prices got finer since the record was written has them scaled; so has a value.
func TestPricesAndValuesAreReadInTheUnitsOfTheReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.Uint8Range(0, 8).Draw(t, "before")
		now := rapid.Uint8Range(before, 12).Draw(t, "now")
		price := rapid.Int64().Draw(t, "price") >> rapid.IntRange(0, 63).Draw(t, "shift")
		value := market.ValueOf(price)
		e := Encoder{Names: NewNames(catalog(t, before, 9), nil)}
		e.Market(1)
		e.Market(2) // mentioned only
		e.Int(price)
		e.Value(value)

		var d Decoder
		c := catalog(t, now, 12)
		d.Open(NewNames(c, nil), e.Buf)
		require.EqualValues(t, 1, d.Market())
		require.EqualValues(t, 2, d.OtherMarket())
		power := func(n uint8) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
		want := new(big.Int).Mul(big.NewInt(price), power(now-before))
		if !want.IsInt64() || want.Int64() == -1<<63 && now > before {
			d.Price()
			require.ErrorIs(t, d.Err(), market.ErrOverflow)
			require.ErrorIs(t, d.Err(), bolt.ErrCorrupt)
			return
		}
		require.Equal(t, market.Price(want.Int64()), d.Price())
		up := c.Market(1).ValueDigits - max(before+8, 2)
		require.Equal(t, new(big.Int).Mul(big.NewInt(price), power(up)), bigOf(d.Value()))
		require.NoError(t, d.End())
	})
}

// What is not of the catalog, and what no encoder writes.
func TestUnreadableBytesAreNamed(t *testing.T) {
	n := NewNames(catalog(t, 2, 5), strategies)
	readMarket := func(d *Decoder) { d.Market() }
	for _, c := range []struct {
		name, want string
		src        []byte
		read       func(d *Decoder)
	}{
		{"an empty record", "1 bytes wanted where 0 are left", nil, func(d *Decoder) { d.Byte() }},
		{"a number without an end", "no number", []byte{0x80, 0x80}, func(d *Decoder) { d.Uint() }},
		{"a number of 65 bits", "no number", append(bytesOf(9, 0xff), 2), func(d *Decoder) { d.Int() }},
		{"a value of 129 bits", "value too long", append(bytesOf(18, 0x80), 4), func(d *Decoder) { d.Value() }},
		{"a value of 20 bytes", "value too long", append(bytesOf(19, 0x80), 0), func(d *Decoder) { d.Value() }},
		{"-2^127", "overflow", append(bytesOf(18, 0xff), 3), func(d *Decoder) { d.Value() }},
		{"a flag too many", "flags 100", []byte{4}, func(d *Decoder) { d.Flags(new(bool), new(bool)) }},
		{"a side that there is not", "market.Side 3", []byte{3}, func(d *Decoder) { Enum(d, market.Sell) }},
		{"a market of another file", `market "BTC-USD" is not of this catalog`, []byte("\x07BTC-USD\x02"), readMarket},
		{"finer prices", "BTC-EUR has 2 price decimals, the record 3", []byte("\x07BTC-EUR\x03"), readMarket},
		{"an asset of another file", `asset "USD" is not of this catalog`, []byte("\x03USD"),
			func(d *Decoder) { d.Asset() }},
		{"something behind the record", "2 bytes too many", []byte{1, 2, 3}, func(d *Decoder) { d.Byte() }},
		{"more things than bytes", "3 items in 2 bytes", []byte{3, 1, 1}, func(d *Decoder) {
			require.Zero(t, d.Count())
		}},
	} {
		var d Decoder
		d.Open(n, c.src)
		c.read(&d)
		require.ErrorIs(t, d.End(), bolt.ErrCorrupt, c.name)
		require.ErrorContains(t, d.End(), c.want, c.name)
		require.Zero(t, d.Int(), "nothing is read after an error")
	}
}

func bytesOf(n int, b byte) (all []byte) {
	for range n {
		all = append(all, b)
	}
	return all
}

func TestAnEncoderKeepsItsFirstMistake(t *testing.T) {
	e := Encoder{Names: NewNames(catalog(t, 2, 5), strategies)}
	e.Byte(1)
	e.Market(3)
	e.Asset(4)
	e.Strategy(3)
	require.EqualError(t, e.Err(), "market 3 is not of this catalog")
	e.Cut(1)
	require.NoError(t, e.Err())
	require.Equal(t, []byte{1}, e.Buf)
	e.Asset(4)
	require.EqualError(t, e.Err(), "asset 4 is not of this catalog")
	e.Cut(0)
	e.Strategy(3)
	require.EqualError(t, e.Err(), "strategy 3 is none of 2")
}

// reads are all ways to read, as what any bytes may be taken for.
var reads = []func(d *Decoder) (size int){
	func(d *Decoder) int { d.Byte(); return 0 },
	func(d *Decoder) int { d.Uint(); return 0 },
	func(d *Decoder) int { d.Int(); return 0 },
	func(d *Decoder) int { d.Value(); return 0 },
	func(d *Decoder) int { d.UUID(); return 0 },
	func(d *Decoder) int { return len(d.Text()) },
	func(d *Decoder) int { return len(d.Bytes()) },
	func(d *Decoder) int { d.Flags(new(bool), new(bool), new(bool)); return 0 },
	func(d *Decoder) int { return len(d.Take(d.Uint())) },
	func(d *Decoder) int { Enum(d, market.Sell); return 0 },
	func(d *Decoder) int { d.Market(); return 0 },
	func(d *Decoder) int { d.OtherMarket(); return 0 },
	func(d *Decoder) int { d.Asset(); return 0 },
	func(d *Decoder) int { d.Price(); return 0 },
	func(d *Decoder) int { name, _ := d.Strategy(); return len(name) },
	(*Decoder).Count,
}

func TestALengthThatIsNotThereTakesNoMemory(t *testing.T) {
	n := NewNames(catalog(t, 2, 5), strategies)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, read := range reads {
		for shift := range 64 {
			src := binary.AppendUvarint(nil, 1<<shift)
			var d Decoder
			d.Open(n, src[:len(src):len(src)])
			read(&d)
		}
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "a thousand errors, and no text of a megabyte")
}

// FuzzDecoderNeverPanics reads any bytes as anything: nothing is longer than the bytes that were
// there, every error is damage, and values are those of the twin.
func FuzzDecoderNeverPanics(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, []byte("\x05\x80\x01\x7f\xff\xff\xff\x01"))
	f.Add([]byte{10, 13, 3, 11, 13, 12, 14},
		[]byte("\x07BTC-EUR\x02\x80\x08\x81\x01\x07ETH-EUR\x04\x20\x03EUR\x04grid"))
	f.Add([]byte{5, 6, 8, 15}, []byte("\x03abc\x02de\x01f\x02\x01\x01"))
	f.Add([]byte{3}, append(bytesOf(18, 0xff), 1))
	n := NewNames(catalog(f, 3, 7), strategies)
	f.Fuzz(func(t *testing.T, ways, src []byte) {
		var d Decoder
		d.Open(n, src)
		for _, way := range ways[:min(len(ways), 64)] {
			left := d.Left()
			require.LessOrEqual(t, reads[int(way)%len(reads)](&d), left)
			require.LessOrEqual(t, d.Left(), left)
			if d.Err() != nil {
				require.ErrorIs(t, d.Err(), bolt.ErrCorrupt)
				require.Zero(t, d.Left())
				require.Zero(t, d.Uint())
			}
		}
		d.Open(n, src)
		v := d.Value()
		want, size, ok := twinRead(src[:min(len(src), 19)])
		if ok = ok && want.CmpAbs(new(big.Int).Lsh(big.NewInt(1), 127)) < 0; !ok {
			require.Error(t, d.Err())
			return
		}
		require.NoError(t, d.Err())
		require.Equal(t, want, bigOf(v))
		require.Equal(t, len(src)-size, d.Left())
	})
}
