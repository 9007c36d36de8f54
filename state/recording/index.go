package recording

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Block is a part of a recording that can be read alone, as its head describes it.
type Block struct {
	First, Last uint64      // numbers of its records
	From, To    market.Time // of its first and its last record
	Start       bool        // the first record is a KindStart
	Bytes       int64       // on disk

	segment int // place in the list of segments
	at      int64
}

// Index lists the blocks of a recording in their order. It reads their heads alone, and their
// content where a head is damaged. A folder without a recording wraps bolt.ErrNotFound.
func Index(dir string) ([]Block, error) {
	segments, err := listSegments(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", bolt.ErrNotFound, err)
		}
		return nil, err
	}
	return indexOf(segments)
}

func indexOf(segments []segment) (all []Block, err error) {
	for i := range segments {
		if all, err = appendIndex(all, segments[i].path, i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// appendIndex appends the blocks of a segment.
func appendIndex(all []Block, path string, segment int) ([]Block, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil // a running bot has just deleted it
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	before, at, end := len(all), int64(0), info.Size()
	for at < end {
		var head [blockFront]byte
		n, err := file.ReadAt(head[:], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		b, length := readHead(head[:n])
		if length == 0 || length > end-at || b.start && !whole(file, at, length) {
			return appendWhole(all[:before], path, segment)
		}
		all = append(all, block(&b, segment, at, length))
		at += length
	}
	return all, nil
}

// whole reports whether the block at a place of a file is as it was written: a reader may begin at
// it.
func whole(file *os.File, at, size int64) bool {
	data := make([]byte, size)
	_, err := file.ReadAt(data, at)
	_, found := readBlock(data)
	return err == nil && found > 0
}

// appendWhole is appendIndex of a segment with damage, or with a torn end: it reads all of it.
func appendWhole(all []Block, path string, segment int) ([]Block, error) {
	data, err := os.ReadFile(path)
	for at := findBlock(data, 0); at >= 0; at = findBlock(data, at) {
		b, size := readBlock(data[at:])
		all = append(all, block(&b, segment, int64(at), int64(size)))
		at += size
	}
	return all, err
}

func block(b *blockInfo, segment int, at, size int64) Block {
	return Block{First: b.first, Last: b.last(), From: b.from, To: b.to, Start: b.start, Bytes: size, segment: segment,
		at: at}
}

// readHead reads the head of a block without its payload, and how long the block is; 0: that is no
// head.
func readHead(head []byte) (b blockInfo, size int64) {
	if len(head) < blockFront || !begins(head) {
		return b, 0
	}
	length := binary.LittleEndian.Uint32(head[8:])
	if length > maxPayload {
		return b, 0
	}
	b.readNumbers(head)
	return b, blockFront + int64(length)
}

// Seek goes on with the first record at or after a time, in the order of the recording: it skips
// whole blocks by their heads. Records that are missing before it are not reported.
func (r *Reader) Seek(at market.Time) error {
	blocks, err := indexOf(r.all)
	if err != nil {
		return err
	}
	found := slices.IndexFunc(blocks, func(b Block) bool { return b.To >= at })
	r.data, r.left, r.number, r.from, r.since = nil, 0, 0, 0, at
	if r.segments = nil; found < 0 {
		return nil
	}
	b := &blocks[found]
	data, err := os.ReadFile(r.all[b.segment].path)
	if err != nil {
		return err
	}
	r.data, r.segments = data[min(b.at, int64(len(data))):], r.all[b.segment+1:]
	return nil
}

// Describe returns the extent of the recording in a folder. A missing folder has no events.
func Describe(dir string) (x Extent, err error) {
	segments, err := listSegments(dir)
	if os.IsNotExist(err) {
		return x, nil
	}
	for _, s := range segments {
		x.Bytes += s.size
		x.Segments++
	}
	blocks, failed := indexOf(segments)
	if n := len(blocks); n > 0 {
		x.First, x.From, x.Last, x.To = blocks[0].First, blocks[0].From, blocks[n-1].Last, blocks[n-1].To
	}
	return x, cmp.Or(err, failed)
}
