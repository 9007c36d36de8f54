package recording

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// A segment of a recording is a file of blocks and nothing else. A block is
//
//	4  "TMB1"
//	4  crc32c of everything after it
//	4  length of the payload
//	4  events
//	8  number of the first event
//	8  its time
//	8  time of the last event
//	…  payload: the events, compressed with zstd
//
// with integers in little endian.
const (
	blockMagic = "TMB1" // the last letter is the version of the format
	blockFront = 40
	maxPayload = 64 << 20 // no payload is longer, packed or not
)

// blockInfo is the head of a block.
type blockInfo struct {
	first    uint64
	count    uint32
	from, to market.Time
	payload  []byte
}

// last is the number of the last event.
func (b *blockInfo) last() uint64 { return b.first + uint64(b.count) - 1 }

// appendBlock appends a block with the compressed raw as its payload.
func appendBlock(dst []byte, b *blockInfo, raw []byte, packer *zstd.Encoder) []byte {
	at := len(dst)
	dst = append(dst, blockMagic...)
	dst = append(dst, make([]byte, 8)...) // checksum and length, known below
	dst = binary.LittleEndian.AppendUint32(dst, b.count)
	dst = binary.LittleEndian.AppendUint64(dst, b.first)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.from))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.to))
	dst = packer.EncodeAll(raw, dst)
	binary.LittleEndian.PutUint32(dst[at+8:], uint32(len(dst)-at-blockFront))
	binary.LittleEndian.PutUint32(dst[at+4:], crc32.Checksum(dst[at+8:], boltfile.Castagnoli))
	return dst
}

// readBlock reads the block at the beginning of data. Size is 0 if there is no whole block.
func readBlock(data []byte) (b blockInfo, size int) {
	if len(data) < blockFront || string(data[:4]) != blockMagic {
		return b, 0
	}
	length := binary.LittleEndian.Uint32(data[8:])
	if length > maxPayload || int(length) > len(data)-blockFront {
		return b, 0
	}
	size = blockFront + int(length)
	if crc32.Checksum(data[8:size], boltfile.Castagnoli) != binary.LittleEndian.Uint32(data[4:]) {
		return b, 0
	}
	b.count = binary.LittleEndian.Uint32(data[12:])
	b.first = binary.LittleEndian.Uint64(data[16:])
	b.from = market.Time(binary.LittleEndian.Uint64(data[24:]))
	b.to = market.Time(binary.LittleEndian.Uint64(data[32:]))
	b.payload = data[blockFront:size]
	return b, size
}

// newerBlock reports whether data begins with a block of a later version, which this program must
// not take for a torn end and cut off.
func newerBlock(data []byte) bool {
	last := len(blockMagic) - 1
	return len(data) > last && string(data[:last]) == blockMagic[:last] && data[last] > blockMagic[last]
}

// findBlock returns where the next whole block begins at or after at, or -1. It skips damage.
func findBlock(data []byte, at int) int {
	for at < len(data) {
		found := bytes.Index(data[at:], []byte(blockMagic))
		if found < 0 {
			return -1
		}
		at += found
		if _, size := readBlock(data[at:]); size > 0 {
			return at
		}
		at++
	}
	return -1
}
