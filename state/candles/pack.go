package candles

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// A block is up to 128 candles in six columns of unsigned integers. Each column is bit-packed at
// the width of its largest value:
//
//	open    open − previous close (the first of a chunk: its own open), less the block's smallest
//	body    close − open, less the block's smallest
//	up      high − larger of open and close
//	down    smaller of open and close − low
//	volume  unchanged
//	gap     number of candles missing before this one
//
// Its head: rows − 1, the six widths, zero, then the smallest open and body distance, 8 bytes each.
// Every column is padded to 8 bytes.
const (
	blockRows = 128
	blockHead = 24
)

const (
	colOpen = iota
	colBody
	colUp
	colDown
	colVolume
	colGap
	blockCols
)

type blockColumns [blockCols][blockRows]uint64

// columnSize is the packed size in bytes of n values of width bits.
func columnSize(n int, width uint) int { return (n*int(width) + 63) >> 6 << 3 }

// chunkPacker encodes chunks; its buffers are reused.
type chunkPacker struct {
	cols  blockColumns
	bytes []byte
}

// pack encodes candles of one chunk: valid, sorted, without duplicates, with the given decimals.
// The result is valid until the next call.
func (p *chunkPacker) pack(candles []market.Candle, interval market.Interval, priceDigits, volumeDigits uint8) []byte {
	first := interval.Index(candles[0].Start)
	number, offset := chunkOf(first)
	drop, dropVolume := spareDigits(candles, priceDigits, volumeDigits)
	h := chunkHeader{interval: interval, number: number, rows: len(candles), first: offset,
		priceDigits: priceDigits - drop, volumeDigits: volumeDigits - dropVolume}
	d := deltas{priceUnit: market.Pow10(drop), volumeUnit: market.Pow10(dropVolume), interval: interval,
		index: first - 1}
	d.close = int64(candles[0].Open) / d.priceUnit
	h.open = market.Price(d.close)
	p.bytes = append(p.bytes[:0], make([]byte, chunkHead)...)
	for block := range slices.Chunk(candles, blockRows) {
		d.fill(&p.cols, block)
		p.appendBlock(len(block))
	}
	_, h.last = chunkOf(d.index)
	p.bytes = append(p.bytes, make([]byte, chunkSlack)...)
	return sealChunk(p.bytes, &h)
}

func (p *chunkPacker) appendBlock(n int) {
	leastOpen, leastBody := subtractLeast(p.cols[colOpen][:n]), subtractLeast(p.cols[colBody][:n])
	head := [8]byte{byte(n - 1)}
	for col := range p.cols {
		head[1+col] = byte(columnWidth(p.cols[col][:n]))
	}
	p.bytes = append(p.bytes, head[:]...)
	p.bytes = binary.LittleEndian.AppendUint64(p.bytes, leastOpen)
	p.bytes = binary.LittleEndian.AppendUint64(p.bytes, leastBody)
	for col := range p.cols {
		p.bytes = appendColumn(p.bytes, p.cols[col][:n], uint(head[1+col]))
	}
}

// subtractLeast subtracts the smallest of the signed values from all of them and returns it.
func subtractLeast(values []uint64) uint64 {
	least := int64(values[0])
	for _, v := range values {
		least = min(least, int64(v))
	}
	for i := range values {
		values[i] -= uint64(least)
	}
	return uint64(least)
}

func columnWidth(values []uint64) int {
	var all uint64
	for _, v := range values {
		all |= v
	}
	return bits.Len64(all)
}

func appendColumn(dst []byte, values []uint64, width uint) []byte {
	if width == 0 {
		return dst
	}
	var word uint64
	var fill uint
	for _, v := range values {
		word |= v << fill
		if fill += width; fill >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, word)
			fill -= 64
			word = v >> (width - fill)
		}
	}
	if fill > 0 {
		dst = binary.LittleEndian.AppendUint64(dst, word)
	}
	return dst
}

// deltas turns candles into columns; close and index are those of the previous candle.
type deltas struct {
	priceUnit, volumeUnit int64
	close, index          int64
	interval              market.Interval
}

func (d *deltas) fill(cols *blockColumns, block []market.Candle) {
	step := market.Time(d.interval.Fixed())
	for i := range block {
		c := &block[i]
		open, high, low, last := d.prices(c)
		cols[colOpen][i] = uint64(open - d.close)
		cols[colBody][i] = uint64(last - open)
		cols[colUp][i] = uint64(high - max(open, last))
		cols[colDown][i] = uint64(min(open, last) - low)
		cols[colVolume][i] = uint64(int64(c.Volume))
		if d.volumeUnit != 1 {
			cols[colVolume][i] /= uint64(d.volumeUnit)
		}
		d.close = last
		index := d.index + 1
		if step == 0 || i == 0 || c.Start != block[i-1].Start+step {
			index = d.interval.Index(c.Start)
		}
		cols[colGap][i] = uint64(index - d.index - 1)
		d.index = index
	}
}

func (d *deltas) prices(c *market.Candle) (open, high, low, last int64) {
	open, high, low, last = int64(c.Open), int64(c.High), int64(c.Low), int64(c.Close)
	if d.priceUnit != 1 {
		return open / d.priceUnit, high / d.priceUnit, low / d.priceUnit, last / d.priceUnit
	}
	return open, high, low, last
}

// spareDigits returns the number of decimals of prices and of volumes that are zero in every
// candle.
func spareDigits(candles []market.Candle, priceDigits, volumeDigits uint8) (price, volume uint8) {
	price, volume = priceDigits, volumeDigits
	for i := range candles {
		if price == 0 && volume == 0 {
			break
		}
		c := &candles[i]
		price = trailingZeros(int64(c.Open), price)
		price = trailingZeros(int64(c.High), price)
		price = trailingZeros(int64(c.Low), price)
		price = trailingZeros(int64(c.Close), price)
		volume = trailingZeros(int64(c.Volume), volume)
	}
	return price, volume
}

// trailingZeros returns the number of decimal zeros at the end of value, at most limit.
func trailingZeros(value int64, limit uint8) uint8 {
	for limit > 0 && value%market.Pow10(limit) != 0 {
		limit--
	}
	return limit
}
