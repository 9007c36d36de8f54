package candles

import (
	"encoding/binary"

	"github.com/tidemark-trading/tidemark/market"
)

// lateBlock is the number of bytes of late candles that are allocated together, and lateRecord the
// most that one takes.
const (
	lateBlock  = 1 << 16
	lateRecord = 80
)

// lateList keeps late candles as bytes, 20 to 30 each: so a quarter of a million of them need 6 MB.
// A candle has the decimals that it came with.
type lateList struct {
	blocks [][]byte
	count  int
}

// lateQueue is the late candles of one chunk in the order of their arrival: where the first and the
// last one are in the list; 0: none is there.
type lateQueue struct{ first, last uint32 }

// lateCandle is a candle of a closed chunk.
type lateCandle struct {
	candle                    market.Candle // Market is 0, Late false
	line                      int64
	priceDigits, volumeDigits uint8
}

// add adds a candle to the queue of its chunk.
func (l *lateList) add(to *lateQueue, c *lateCandle, offset int) {
	if n := len(l.blocks); n == 0 || len(l.blocks[n-1]) > lateBlock-lateRecord {
		if n < cap(l.blocks) && l.blocks[:n+1][n] != nil { // of an earlier round
			l.blocks = l.blocks[:n+1]
			l.blocks[n] = l.blocks[n][:1]
		} else {
			l.blocks = append(l.blocks, make([]byte, 1, lateBlock)) // place 0 is none
		}
	}
	block := &l.blocks[len(l.blocks)-1]
	at := uint32(len(l.blocks)-1)*lateBlock + uint32(len(*block))
	k := &c.candle
	b := append(*block, 0, 0, 0, 0, c.priceDigits, c.volumeDigits)
	b = binary.AppendUvarint(b, uint64(offset))
	b = binary.AppendVarint(b, c.line)
	for _, v := range [...]int64{int64(k.Open), int64(k.High - k.Open), int64(k.Low - k.Open), int64(k.Close - k.Open),
		int64(k.Volume)} {
		b = binary.AppendVarint(b, v)
	}
	*block = b
	if to.first == 0 {
		to.first = at
	} else {
		binary.LittleEndian.PutUint32(l.from(to.last), at)
	}
	to.last = at
	l.count++
}

// from is the list from a place on.
func (l *lateList) from(at uint32) []byte { return l.blocks[at/lateBlock][at%lateBlock:] }

// read reads the candle at a place, and returns its offset in its chunk and the place of the next.
func (l *lateList) read(at uint32, c *lateCandle) (offset int, next uint32) {
	b := l.from(at)
	next, c.priceDigits, c.volumeDigits = binary.LittleEndian.Uint32(b), b[4], b[5]
	place, n := binary.Uvarint(b[6:])
	b = b[6+n:]
	var values [6]int64
	for i := range values {
		values[i], n = binary.Varint(b)
		b = b[n:]
	}
	c.line = values[0]
	k := &c.candle
	k.Open = market.Price(values[1])
	k.High, k.Low, k.Close = k.Open+market.Price(values[2]), k.Open+market.Price(values[3]),
		k.Open+market.Price(values[4])
	k.Volume = market.Volume(values[5])
	return int(place), next
}

// clear empties the list and keeps its memory.
func (l *lateList) clear() { l.blocks, l.count = l.blocks[:0], 0 }
