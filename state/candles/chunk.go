package candles

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// A chunk holds the candles of one aligned span of 4096 interval indexes. Its bytes depend on these
// candles only, not on the order of their arrival nor on the market's decimals: prices and volumes
// have the fewest decimals that the chunk needs. Little-endian, a multiple of 8 bytes long:
//
//	 0  "TC", format version, interval
//	 4  crc32c of everything after it
//	 8  rows u16, first and last offset u16 each, price decimals u8, volume decimals u8
//	16  open of the first candle i64
//	24  chunk number i64: index of the first candle it may hold, divided by 4096
//	32  SHA-256 of bytes 8…31 and of the payload, its first 16 bytes
//	48  payload: blocks of up to 128 rows (see pack.go), then 8 zero bytes
const (
	chunkShift   = 12
	chunkSpan    = 1 << chunkShift
	chunkVersion = 1
	chunkHead    = 48
	chunkSlack   = 8 // keeps a 64-bit load at the last value inside
	hashSize     = 16
)

// Candles start from the year 1700 on and before the year 2200, well inside market.Time.
const (
	minCandleTime market.Time = -8520336000_000000000
	maxCandleTime market.Time = 7258118400_000000000
)

// chunkHeader is the decoded head of a chunk.
type chunkHeader struct {
	interval                  market.Interval
	number                    int64
	rows, first, last         int
	priceDigits, volumeDigits uint8
	open                      market.Price
	hash                      [hashSize]byte
}

// chunkOf splits an interval index into chunk number and offset.
func chunkOf(index int64) (number int64, offset int) {
	return index >> chunkShift, int(index & (chunkSpan - 1))
}

// chunkKey returns the key of a chunk. Keys sort by number, even before 1970.
func chunkKey(number int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(number)^1<<63)
}

func chunkNumber(key []byte) (int64, error) {
	if len(key) != 8 {
		return 0, fmt.Errorf("chunk key %x: %w: want 8 bytes", key, bolt.ErrCorrupt)
	}
	return int64(binary.BigEndian.Uint64(key) ^ 1<<63), nil
}

// indexBounds returns the first and last interval index that a candle may have.
func indexBounds(interval market.Interval) (low, high int64) {
	return interval.Index(minCandleTime), interval.Index(maxCandleTime)
}

// chunkRange returns the span of time of a chunk, within the years that candles may have.
func chunkRange(interval market.Interval, number int64) Range {
	low, high := indexBounds(interval)
	if number < low>>chunkShift || number > high>>chunkShift {
		return Range{}
	}
	from, to := max(low, number<<chunkShift), min(high, (number+1)<<chunkShift)
	return Range{From: interval.StartOf(from), To: interval.StartOf(to)}
}

// readChunkHead reads and checks a chunk's head, not its payload.
func readChunkHead(interval market.Interval, number int64, value []byte) (h chunkHeader, err error) {
	switch {
	case len(value) < chunkHead+blockHead+chunkSlack || len(value)%8 != 0:
		return h, fmt.Errorf("%w: %d bytes", bolt.ErrCorrupt, len(value))
	case value[0] != 'T' || value[1] != 'C':
		return h, fmt.Errorf("%w: no chunk", bolt.ErrCorrupt)
	case value[2] != chunkVersion:
		return h, fmt.Errorf("%w: format version %d, this program reads %d", bolt.ErrCorrupt, value[2],
			chunkVersion)
	}
	h = chunkHeader{
		interval: market.Interval(value[3]), number: int64(binary.LittleEndian.Uint64(value[24:])),
		rows: int(binary.LittleEndian.Uint16(value[8:])), first: int(binary.LittleEndian.Uint16(value[10:])),
		last: int(binary.LittleEndian.Uint16(value[12:])), priceDigits: value[14], volumeDigits: value[15],
		open: market.Price(binary.LittleEndian.Uint64(value[16:])), hash: [hashSize]byte(value[32:48]),
	}
	return h, h.check(interval, number)
}

func (h *chunkHeader) check(interval market.Interval, number int64) error {
	low, high := indexBounds(interval)
	switch {
	case h.interval != interval || h.number != number:
		return fmt.Errorf("%w: it says chunk %d of interval %s", bolt.ErrCorrupt, h.number, h.interval)
	case h.rows < 1 || h.first > h.last || h.last >= chunkSpan || h.rows > h.last-h.first+1:
		return fmt.Errorf("%w: %d rows from %d to %d", bolt.ErrCorrupt, h.rows, h.first, h.last)
	case h.priceDigits > market.MaxDigits || h.volumeDigits > market.MaxDigits:
		return fmt.Errorf("%w: %d price and %d volume decimals", bolt.ErrCorrupt, h.priceDigits, h.volumeDigits)
	case number < low>>chunkShift || number > high>>chunkShift || h.firstIndex() < low || h.lastIndex() > high:
		return fmt.Errorf("%w: chunk %d lies outside the years 1700 to 2200", bolt.ErrCorrupt, number)
	}
	return nil
}

func (h *chunkHeader) firstIndex() int64 { return h.number<<chunkShift + int64(h.first) }
func (h *chunkHeader) lastIndex() int64  { return h.number<<chunkShift + int64(h.last) }

// dense reports whether no candle is missing between the first and the last one.
func (h *chunkHeader) dense() bool { return h.rows == h.last-h.first+1 }

// checkChunkSum compares the checksum of a chunk whose head has been read.
func checkChunkSum(value []byte) error {
	want, have := binary.LittleEndian.Uint32(value[4:]), crc32.Checksum(value[8:], bolt.Castagnoli)
	if want != have {
		return fmt.Errorf("%w: checksum %08x, its bytes give %08x", bolt.ErrCorrupt, want, have)
	}
	return nil
}

// checkChunkHash compares the content hash. Only Verify needs it: the checksum finds accidents at
// less cost.
func checkChunkHash(value []byte) error {
	if hash := hashChunk(value); !bytes.Equal(hash[:], value[32:48]) {
		return fmt.Errorf("%w: content hash differs", bolt.ErrCorrupt)
	}
	return nil
}

func hashChunk(value []byte) (short [hashSize]byte) {
	hash := sha256.New()
	hash.Write(value[8:32])
	hash.Write(value[chunkHead:])
	var sum [sha256.Size]byte
	copy(short[:], hash.Sum(sum[:0]))
	return short
}

// sealChunk writes the head into value, whose payload is in place, and returns it.
func sealChunk(value []byte, h *chunkHeader) []byte {
	value[0], value[1], value[2], value[3] = 'T', 'C', chunkVersion, byte(h.interval)
	binary.LittleEndian.PutUint16(value[8:], uint16(h.rows))
	binary.LittleEndian.PutUint16(value[10:], uint16(h.first))
	binary.LittleEndian.PutUint16(value[12:], uint16(h.last))
	value[14], value[15] = h.priceDigits, h.volumeDigits
	binary.LittleEndian.PutUint64(value[16:], uint64(h.open))
	binary.LittleEndian.PutUint64(value[24:], uint64(h.number))
	hash := hashChunk(value)
	copy(value[32:], hash[:])
	binary.LittleEndian.PutUint32(value[4:], crc32.Checksum(value[8:], bolt.Castagnoli))
	return value
}
