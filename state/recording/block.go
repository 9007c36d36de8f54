package recording

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// A segment of a recording is a file of blocks and nothing else. A block is
//
//	4  "TMR1"
//	4  crc32c of everything after it
//	4  length of the payload
//	4  records; the highest bit is set where the first one is a KindStart
//	8  number of the first record
//	8  its time
//	8  time of the last record
//	…  payload: of each stream its length as unsigned LEB128, then its bytes, packed with zstd
//
// with integers in little endian. The first stream has the records. All blocks of a segment are of
// one version.
const (
	blockMagic = "TMR1" // the last letter is the version of the format
	olderMagic = "TMB"  // of programs before version 1
	blockFront = 40
	maxPayload = 64 << 20 // no payload is longer, packed or not
	startBit   = 1 << 31
)

// blockInfo is the head of a block.
type blockInfo struct {
	first    uint64
	count    uint32
	start    bool // the first record is a KindStart
	from, to market.Time
	payload  []byte
}

// last is the number of the last record.
func (b *blockInfo) last() uint64 { return b.first + uint64(b.count) - 1 }

// appendBlock appends a block with the compressed streams as its payload. packed is memory to use.
func appendBlock(dst []byte, b *blockInfo, raw *[streams][]byte, packer *zstd.Encoder, packed *[]byte) []byte {
	at := len(dst)
	dst = append(dst, blockMagic...)
	dst = append(dst, make([]byte, 8)...) // checksum and length, known below
	count := b.count
	if b.start {
		count |= startBit
	}
	dst = binary.LittleEndian.AppendUint32(dst, count)
	dst = binary.LittleEndian.AppendUint64(dst, b.first)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.from))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.to))
	for _, stream := range raw {
		if *packed = (*packed)[:0]; len(stream) > 0 {
			*packed = packer.EncodeAll(stream, *packed)
		}
		dst = append(binary.AppendUvarint(dst, uint64(len(*packed))), *packed...)
	}
	binary.LittleEndian.PutUint32(dst[at+8:], uint32(len(dst)-at-blockFront))
	binary.LittleEndian.PutUint32(dst[at+4:], crc32.Checksum(dst[at+8:], bolt.Castagnoli))
	return dst
}

// begins reports whether a block begins at the beginning of data.
func begins(data []byte) bool {
	return len(data) >= len(blockMagic) && string(data[:len(blockMagic)]) == blockMagic
}

// unpack decompresses the payload into raw, whose memory it uses.
func (b *blockInfo) unpack(raw *[streams][]byte, unpacker *zstd.Decoder) (err error) {
	payload := b.payload
	for i := range raw {
		length, size := binary.Uvarint(payload)
		if size <= 0 || length > uint64(len(payload)-size) {
			return fmt.Errorf("%w: stream %d is cut", bolt.ErrCorrupt, i)
		}
		packed := payload[size : size+int(length)]
		payload = payload[size+int(length):]
		if raw[i] = raw[i][:0]; len(packed) == 0 {
			continue
		}
		if raw[i], err = unpacker.DecodeAll(packed, raw[i]); err != nil {
			return fmt.Errorf("%w: %w", bolt.ErrCorrupt, err)
		}
	}
	return nil
}

// readBlock reads the block at the beginning of data. Size is 0 if there is no whole block.
func readBlock(data []byte) (b blockInfo, size int) {
	if len(data) < blockFront || !begins(data) {
		return b, 0
	}
	length := binary.LittleEndian.Uint32(data[8:])
	if length > maxPayload || int(length) > len(data)-blockFront {
		return b, 0
	}
	size = blockFront + int(length)
	if crc32.Checksum(data[8:size], bolt.Castagnoli) != binary.LittleEndian.Uint32(data[4:]) {
		return b, 0
	}
	b.readNumbers(data)
	b.payload = data[blockFront:size]
	return b, size
}

// readNumbers reads the numbers of a head behind its length.
func (b *blockInfo) readNumbers(head []byte) {
	b.count = binary.LittleEndian.Uint32(head[12:])
	b.start, b.count = b.count&startBit != 0, b.count&^startBit
	b.first = binary.LittleEndian.Uint64(head[16:])
	b.from = market.Time(binary.LittleEndian.Uint64(head[24:]))
	b.to = market.Time(binary.LittleEndian.Uint64(head[32:]))
}

// checkVersion refuses data that begins with a block of another version, which this program must
// not take for a torn end and cut off.
func checkVersion(path string, data []byte) error {
	last := len(blockMagic) - 1
	switch {
	case bytes.HasPrefix(data, []byte(olderMagic)):
		return fmt.Errorf("%s: an older program wrote it; move the recording away and record anew, or read it with "+
			"that program", path)
	case len(data) > last && string(data[:last]) == blockMagic[:last] && data[last] > blockMagic[last]:
		return fmt.Errorf("%s: %w: format %q, this program reads %q; update the program, or move the recording away",
			path, bolt.ErrNewer, data[:len(blockMagic)], blockMagic)
	}
	return nil
}

// findBlock returns where the next whole block begins at or after at, or -1. It skips damage.
func findBlock(data []byte, at int) int {
	for at < len(data) {
		found := bytes.Index(data[at:], []byte(blockMagic[:len(blockMagic)-1]))
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
