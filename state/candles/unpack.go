package candles

import (
	"encoding/binary"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// chunkDecoder decodes chunks, block by block, without allocating. Its candles pass
// market.Candle.Check: they are aligned by construction, and decoding checks the rest.
type chunkDecoder struct {
	head        chunkHeader
	rest        []byte // blocks not decoded yet
	left        int    // rows in them
	offset      int64  // of the last decoded row
	close       int64  // of the last decoded row, in the chunk's unit
	priceScale  int64
	volumeScale int64
	leastOpen   int64 // of the block in cols, like leastBody
	leastBody   int64
	small       bool // combineSmall can take the block in cols
	cols        blockColumns
	gapless     bool // the gaps in cols are all zero
}

// open begins a chunk; its candles will have the given decimals. It wraps ErrCorrupt, or
// market.ErrInexact if the chunk needs more decimals.
func (d *chunkDecoder) open(interval market.Interval, number int64, value []byte, priceDigits,
	volumeDigits uint8) (err error) {
	d.left = 0
	if d.head, err = readChunkHead(interval, number, value); err != nil {
		return err
	}
	if err = checkChunkSum(value); err != nil {
		return err
	}
	if d.head.priceDigits > priceDigits || d.head.volumeDigits > volumeDigits {
		return fmt.Errorf("candles have %d price and %d volume decimals, asked for %d and %d: %w",
			d.head.priceDigits, d.head.volumeDigits, priceDigits, volumeDigits, market.ErrInexact)
	}
	d.priceScale = market.Pow10(priceDigits - d.head.priceDigits)
	d.volumeScale = market.Pow10(volumeDigits - d.head.volumeDigits)
	d.rest, d.left = value[chunkHead:], d.head.rows
	d.offset, d.close = int64(d.head.first)-1, int64(d.head.open)
	return nil
}

// stampCandles sets the fields that are equal in every candle of a series. The decoder does not
// touch them, so once for each buffer is enough.
func stampCandles(dst []market.Candle, id market.ID, interval market.Interval) {
	for i := range dst {
		dst[i].Market, dst[i].Interval, dst[i].Late = id, interval, false
	}
}

// next decodes the next block into dst, which is stamped and has room for blockRows candles, and
// returns its number of candles; 0 at the end.
func (d *chunkDecoder) next(dst []market.Candle) (int, error) {
	if d.left == 0 {
		return 0, nil
	}
	n := min(d.left, blockRows)
	if err := d.unpackBlock(n); err != nil {
		d.left = 0
		return 0, err
	}
	if err := d.combine(dst[:n]); err != nil {
		d.left = 0
		return 0, err
	}
	d.left -= n
	if d.left == 0 {
		return n, d.checkEnd()
	}
	return n, nil
}

func (d *chunkDecoder) checkEnd() error {
	if len(d.rest) != chunkSlack || binary.LittleEndian.Uint64(d.rest) != 0 || d.offset != int64(d.head.last) {
		return fmt.Errorf("%w: %d bytes left after the last row, offset %d", bolt.ErrCorrupt, len(d.rest), d.offset)
	}
	return nil
}

// unpackBlock fills the columns from the block at the start of rest.
func (d *chunkDecoder) unpackBlock(n int) error {
	if len(d.rest) < blockHead+chunkSlack || int(d.rest[0]) != n-1 || d.rest[7] != 0 {
		return fmt.Errorf("%w: block head", bolt.ErrCorrupt)
	}
	widths, at := d.rest[1:1+blockCols], blockHead
	if widths[colGap] > chunkShift {
		return fmt.Errorf("%w: gap of %d bits", bolt.ErrCorrupt, widths[colGap])
	}
	for col := range d.cols {
		width := uint(widths[col])
		end := at + columnSize(n, width)
		if width > 64 || end > len(d.rest)-chunkSlack {
			return fmt.Errorf("%w: column of %d bits", bolt.ErrCorrupt, width)
		}
		if col != colGap || width > 0 || !d.gapless {
			unpackColumn(&d.cols[col], d.rest[at:end+chunkSlack], n, width)
		}
		at = end
	}
	d.gapless = widths[colGap] == 0
	d.leastOpen = int64(binary.LittleEndian.Uint64(d.rest[8:]))
	d.leastBody = int64(binary.LittleEndian.Uint64(d.rest[16:]))
	d.small = d.isSmall(widths)
	d.rest = d.rest[at:]
	return nil
}

// unpackColumn reads n values of width bits; src ends chunkSlack bytes after the last of them.
// Values after the n-th are undefined.
func unpackColumn(dst *[blockRows]uint64, src []byte, n int, width uint) {
	switch {
	case width == 0:
		*dst = [blockRows]uint64{}
	case n == blockRows && width <= 14:
		unpackFours(dst, src, width)
	case n == blockRows && width <= 28:
		unpackTwos(dst, src, width)
	case width <= 57:
		unpackOnes(dst[:n], src, width)
	default:
		unpackWide(dst[:n], src, width)
	}
}

// unpackFours reads a full column of at most 14 bits: one load holds four values. Eight values
// begin with a byte, the last four of them with half a byte where the width is odd. A word is
// shifted by one width again and again, because a shift by another number needs a register of its
// own.
func unpackFours(dst *[blockRows]uint64, src []byte, width uint) {
	mask, half, odd := uint64(1)<<width-1, width/2, width&1*4
	at, w := uint(0), width&63
	for i := 0; i < blockRows; i += 8 {
		eight := (*[8]uint64)(dst[i : i+8])
		word := binary.LittleEndian.Uint64(src[at : at+8])
		eight[0] = word & mask
		word >>= w
		eight[1] = word & mask
		word >>= w
		eight[2] = word & mask
		word >>= w
		eight[3] = word & mask
		word = binary.LittleEndian.Uint64(src[at+half:at+half+8]) >> odd
		eight[4] = word & mask
		word >>= w
		eight[5] = word & mask
		word >>= w
		eight[6] = word & mask
		word >>= w
		eight[7] = word & mask
		at += width
	}
}

// unpackTwos reads a full column of at most 28 bits.
func unpackTwos(dst *[blockRows]uint64, src []byte, width uint) {
	mask, bit := uint64(1)<<width-1, uint(0)
	for i := 0; i < blockRows; i += 2 {
		word := binary.LittleEndian.Uint64(src[bit>>3:bit>>3+8]) >> (bit & 7)
		dst[i] = word & mask
		dst[i+1] = word >> (width & 63) & mask
		bit += 2 * width
	}
}

// unpackOnes reads values of at most 57 bits: one load holds a value and the odd bits before it.
func unpackOnes(dst []uint64, src []byte, width uint) {
	mask, bit := uint64(1)<<width-1, uint(0)
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint64(src[bit>>3:bit>>3+8]) >> (bit & 7) & mask
		bit += width
	}
}

// unpackWide reads values of up to 64 bits, which may reach into a ninth byte.
func unpackWide(dst []uint64, src []byte, width uint) {
	mask, bit := ^uint64(0)>>(64-width), uint(0)
	for i := range dst {
		at, shift := bit>>3, bit&7
		word := binary.LittleEndian.Uint64(src[at:]) >> shift
		if shift+width > 64 {
			word |= uint64(src[at+8]) << (64 - shift)
		}
		dst[i] = word & mask
		bit += width
	}
}

// combine turns columns into candles.
func (d *chunkDecoder) combine(dst []market.Candle) error {
	var bad int64 // negative after an impossible number
	if d.small && len(dst) == blockRows {
		bad = d.combineSmall((*[blockRows]market.Candle)(dst))
	} else {
		bad = d.combineAny(dst)
	}
	if d.priceScale != 1 || d.volumeScale != 1 {
		bad |= d.rescale(dst)
	}
	if bad < 0 || d.offset >= chunkSpan {
		return fmt.Errorf("%w: impossible candle, or one too large for the market's decimals", bolt.ErrCorrupt)
	}
	if d.head.interval == market.Interval1M {
		d.setMonths(dst)
	}
	return nil
}

// smallBits is a width at which the sums of a block cannot overflow int64.
const smallBits = 48

// isSmall reports whether combineSmall can take the block: it has no gap, and no number can
// overflow.
func (d *chunkDecoder) isSmall(widths []byte) bool {
	prices := max(widths[colOpen], widths[colBody], widths[colUp], widths[colDown])
	return widths[colGap] == 0 && prices <= smallBits && widths[colVolume] < 64 && d.close>>smallBits == 0 &&
		max(d.leastOpen, d.leastBody)>>smallBits <= 0 && min(d.leastOpen, d.leastBody)>>smallBits >= -1
}

// combineSmall is the hot loop of every backtest, for full blocks. If nothing can overflow and
// every distance is positive, a candle is possible when its low is above zero. A length that the
// compiler knows leaves the registers to the numbers.
func (d *chunkDecoder) combineSmall(dst *[blockRows]market.Candle) (bad int64) {
	cols := &d.cols
	step := market.Time(d.head.interval.Fixed())
	start := d.start(d.offset)
	last, leastOpen, leastBody := d.close, d.leastOpen, d.leastBody
	for i := range dst {
		c := &dst[i]
		start += step
		c.Start = start
		c.Volume = market.Volume(cols[colVolume][i])
		open := last + (leastOpen + int64(cols[colOpen][i]))
		c.Open = market.Price(open)
		last = open + (leastBody + int64(cols[colBody][i]))
		c.Close = market.Price(last)
		c.High = market.Price(max(open, last) + int64(cols[colUp][i]))
		low := min(open, last) - int64(cols[colDown][i])
		c.Low = market.Price(low)
		bad |= low - 1
	}
	d.close = last
	d.offset += blockRows
	return bad
}

// combineAny takes every block. If no distance and no high is negative and each low is above zero,
// nothing overflowed and every candle is possible.
func (d *chunkDecoder) combineAny(dst []market.Candle) (bad int64) {
	cols := &d.cols
	for i := range dst {
		open := d.close + d.leastOpen + int64(cols[colOpen][i])
		d.close = open + d.leastBody + int64(cols[colBody][i])
		up, down, volume := int64(cols[colUp][i]), int64(cols[colDown][i]), int64(cols[colVolume][i])
		d.offset += 1 + int64(cols[colGap][i])
		top, bottom := max(open, d.close), min(open, d.close)
		high, low := top+up, bottom-down
		bad |= up | down | volume | high | bottom | (low - 1)
		c := &dst[i]
		c.Open, c.High, c.Low = market.Price(open), market.Price(high), market.Price(low)
		c.Close, c.Volume, c.Start = market.Price(d.close), market.Volume(volume), d.start(d.offset)
	}
	return bad
}

// start returns the start of the candle at offset. It holds for intervals of a fixed length; for
// months setMonths writes over it.
func (d *chunkDecoder) start(offset int64) market.Time {
	step := market.Time(d.head.interval.Fixed())
	return d.head.interval.StartOf(0) + market.Time(d.head.number<<chunkShift+offset)*step
}

// rescale converts candles to the decimals of the market.
func (d *chunkDecoder) rescale(dst []market.Candle) (bad int64) {
	priceLimit, volumeLimit := (1<<63-1)/d.priceScale, (1<<63-1)/d.volumeScale
	for i := range dst {
		c := &dst[i]
		bad |= (priceLimit - int64(c.High)) | (volumeLimit - int64(c.Volume))
		scaleCandle(c, d.priceScale, d.volumeScale)
	}
	return bad
}

// setMonths sets the starts of months, whose length varies.
func (d *chunkDecoder) setMonths(dst []market.Candle) {
	offset := d.offset
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i].Start = market.Interval1M.StartOf(d.head.number<<chunkShift + offset)
		offset -= 1 + int64(d.cols[colGap][i])
	}
}
