package recording

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// The sizes of a recording. When the process dies, the events of one unwritten block are lost. When
// the recording is full, one whole segment is deleted.
const (
	blockRaw         = 64 << 10
	maxSegment       = 16 << 20
	segmentsPerLimit = 16 // of the recording's limit
	segmentExt       = ".rec"
)

// Writer appends records to a folder of compressed segments. It does not sync: after a crash the
// end may be missing, and the next Open cuts off a torn block. Beyond its limit it deletes the
// oldest segments. One goroutine owns it; a full block is compressed and written by another while
// the next one fills.
//
// Records are numbered from 1, and no number that the journal may have named is used twice. The
// numbers of lost records are missing.
type Writer struct {
	enc    eventEncoder
	block  blockInfo
	aside  func(func())
	full   fullBlock
	packed chan error // the result of the full block; nil: there is none
	packer packer     // of the full block's goroutine, while there is one
}

// fullBlock is a block that is being compressed and written.
type fullBlock struct {
	blockInfo
	raw [streams][]byte
}

// packer compresses blocks and writes them.
type packer struct {
	dir      string
	limit    int64
	tee      func(block []byte)
	zstd     *zstd.Encoder
	segments []segment
	file     *os.File // the last segment; nil: the next block begins one
	out      []byte
	packed   []byte
}

// segment is one file of a recording.
type segment struct {
	path  string
	first uint64 // number of its first event
	size  int64
}

// Options configure a Writer.
type Options struct {
	Catalog    *market.Catalog // the units of the records
	Strategies []string        // names by StrategyID − 1
	Limit      int64           // bytes on disk, at least 64 KiB; 0: 1 GiB
	// Tee is called with each block that was written, valid until it returns, on the goroutine of
	// Aside; nil: it is not called. ReadBlocks reads them.
	Tee func(block []byte)
	// Next is the least number of the next record: the journal may know more than a cut off
	// recording.
	Next uint64
	// Aside runs a function in another goroutine, as sync.WaitGroup.Go does: blocks are compressed
	// there. nil: the caller's goroutine compresses.
	Aside func(func())
}

// Open opens the recording in a folder, which is made when missing. A torn end is cut off.
func Open(dir string, o Options) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	segments, err := listSegments(dir)
	if err != nil {
		return nil, err
	}
	compressor, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(2*blockRaw),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false), zstd.WithAllLitEntropyCompression(true))
	if err != nil {
		return nil, err
	}
	w := &Writer{enc: eventEncoder{Encoder: codec.Encoder{Names: codec.NewNames(o.Catalog, o.Strategies)}},
		aside: o.Aside,
		packer: packer{dir: dir, limit: max(64<<10, cmp.Or(o.Limit, 1<<30)), tee: o.Tee, zstd: compressor,
			segments: segments}}
	if w.aside == nil {
		w.aside = func(work func()) { work() }
	}
	next, err := w.packer.resume()
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", dir, err)
	}
	w.block.first = max(1, o.Next, next)
	return w, nil
}

// listSegments returns the segments in a folder, in order.
func listSegments(dir string) (segments []segment, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name, is := strings.CutSuffix(entry.Name(), segmentExt)
		first, err := strconv.ParseUint(name, 16, 64)
		if !is || err != nil || len(name) != 16 {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		segments = append(segments, segment{filepath.Join(dir, entry.Name()), first, info.Size()})
	}
	slices.SortFunc(segments, func(a, b segment) int { return cmp.Compare(a.first, b.first) })
	for i := range segments {
		if err := segments[i].checkVersion(); err != nil {
			return nil, err
		}
	}
	return segments, nil
}

// checkVersion refuses a segment of a newer format.
func (s *segment) checkVersion() error {
	file, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a running bot has just deleted it
	}
	if err != nil {
		return err
	}
	defer file.Close()
	var begin [len(blockMagic)]byte
	if _, err := file.ReadAt(begin[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return checkVersion(s.path, begin[:])
}

// resume finds the end of the last segment, to continue there, and the number after its last
// record.
func (p *packer) resume() (next uint64, err error) {
	for len(p.segments) > 0 {
		last := &p.segments[len(p.segments)-1]
		data, err := os.ReadFile(last.path)
		if err != nil {
			return 0, err
		}
		end, whole, next := scanBlocks(data)
		if end == 0 && whole { // no whole block
			if err := os.Remove(last.path); err != nil {
				return 0, err
			}
			p.segments = p.segments[:len(p.segments)-1]
			continue
		}
		if !whole {
			return next, nil // damaged inside: keep it, and begin a new segment
		}
		return next, p.reopen(last, int64(end))
	}
	return 0, nil
}

func (p *packer) reopen(last *segment, end int64) error {
	file, err := os.OpenFile(last.path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := file.Truncate(end); err != nil {
		return errors.Join(err, file.Close())
	}
	p.file, last.size = file, end
	return nil
}

// scanBlocks returns where the last whole block of a segment ends, whether the segment is whole up
// to there, and the number after its last event.
func scanBlocks(data []byte) (end int, whole bool, next uint64) {
	whole = true
	for at := 0; at < len(data); {
		b, size := readBlock(data[at:])
		if size == 0 {
			found := findBlock(data, at+1)
			if found < 0 {
				break
			}
			at, whole = found, false
			continue
		}
		at += size
		end, next = at, b.last()+1
	}
	return end, whole, next
}

// Append is Write of an event that enters the engine.
func (w *Writer) Append(ev *market.Event) (number uint64, err error) {
	return w.Write(&Record{Kind: KindInput, Input: market.Input{Kind: market.InputEvent, Event: ev}})
}

// Write adds a record and returns its number, 0 where the record cannot be written: it is dropped.
// An error beside a number is of an earlier block, which is lost. The recording continues in either
// case, and a reader finds the dropped numbers missing. A KindStart begins a block.
func (w *Writer) Write(rec *Record) (number uint64, err error) {
	if rec.begins() {
		err = w.pack()
		w.block.start = true
	}
	b := &w.block
	at := rec.Time()
	before, from, listed := b.to, w.enc.mark(), w.enc.table.Len()
	if b.count == 0 {
		before, b.from = at, at
	}
	w.enc.record(rec, before)
	if mistake := w.enc.Err(); mistake != nil {
		w.enc.cutTo(from)
		w.enc.table.Forget(listed)
		return 0, errors.Join(err, mistake, w.skip())
	}
	b.to = at
	b.count++
	number = b.last()
	if w.enc.bytes() >= blockRaw {
		err = cmp.Or(err, w.pack())
	}
	return number, err
}

// skip leaves a number out.
func (w *Writer) skip() error {
	err := w.pack()
	w.block = blockInfo{first: w.block.first + 1}
	w.enc.reset()
	return err
}

// Next returns the number of the next record.
func (w *Writer) Next() uint64 { return w.block.first + uint64(w.block.count) }

// Flush writes the appended records as one block, and returns when the operating system has it and
// all before. Small blocks compress badly.
func (w *Writer) Flush() error { return cmp.Or(w.pack(), w.wait()) }

// pack lets the block be compressed and written, once the one before is. It returns the error of
// that one.
func (w *Writer) pack() error {
	if w.block.count == 0 {
		return nil
	}
	err := w.wait()
	w.full.blockInfo = w.block
	w.full.raw, w.enc.streams = w.enc.streams, w.full.raw
	w.full.raw[records], w.enc.Buf = w.enc.Buf, w.enc.streams[records][:0]
	w.block = blockInfo{first: w.Next()}
	w.enc.reset()
	packed := make(chan error, 1)
	w.packed = packed
	w.aside(func() { packed <- w.packer.pack(&w.full) })
	return err
}

// wait waits until the full block is written.
func (w *Writer) wait() error {
	if w.packed == nil {
		return nil
	}
	err := <-w.packed
	w.packed = nil
	if err != nil {
		return fmt.Errorf("recording %s: %w", w.packer.dir, err)
	}
	return nil
}

// Size is how many bytes the recording has on disk.
func (w *Writer) Size() (int64, error) {
	err := w.wait()
	return w.packer.size(), err
}

// Close flushes and closes.
func (w *Writer) Close() error {
	err := w.Flush()
	if w.packer.file != nil {
		err = cmp.Or(err, w.packer.closeSegment())
	}
	return cmp.Or(err, w.packer.zstd.Close())
}

// pack compresses and writes a block.
func (p *packer) pack(b *fullBlock) error {
	p.out = appendBlock(p.out[:0], &b.blockInfo, &b.raw, p.zstd, &p.packed)
	if err := p.write(b.first); err != nil {
		return err
	}
	return p.dropOldest()
}

// write appends the block to the last segment, or to a new one if that is full.
func (p *packer) write(first uint64) error {
	if p.file != nil && p.segments[len(p.segments)-1].size >= min(maxSegment, p.limit/segmentsPerLimit) {
		if err := p.closeSegment(); err != nil {
			return err
		}
	}
	if p.file == nil {
		path := filepath.Join(p.dir, fmt.Sprintf("%016x%s", first, segmentExt))
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		p.file, p.segments = file, append(p.segments, segment{path: path, first: first})
	}
	n, err := p.file.Write(p.out)
	last := &p.segments[len(p.segments)-1]
	if err != nil {
		return errors.Join(err, p.file.Truncate(last.size))
	}
	last.size += int64(n)
	if p.tee != nil {
		p.tee(p.out)
	}
	return nil
}

// closeSegment closes the last segment.
func (p *packer) closeSegment() error {
	file := p.file
	p.file = nil
	return file.Close()
}

// dropOldest deletes the oldest segments while the recording is above its limit.
func (p *packer) dropOldest() error {
	for p.size() > p.limit && len(p.segments) > 1 {
		if err := os.Remove(p.segments[0].path); err != nil {
			return err
		}
		p.segments = slices.Delete(p.segments, 0, 1)
	}
	return nil
}

func (p *packer) size() (sum int64) {
	for i := range p.segments {
		sum += p.segments[i].size
	}
	return sum
}
