// Package recording keeps the market events of a bot in compressed segments beside its state file.
// It is never synced and may lose its end; its reader reports the missing events. Start at
// Writer.Append and Reader.Next.
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
	"github.com/tidemark-trading/tidemark/state/boltfile"
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

// Writer appends events of market data to a folder of compressed segments. It does not sync: after
// a crash the end may be missing, and the next Open cuts off a torn block. Beyond its limit it
// deletes the oldest segments. One goroutine owns it.
//
// Events are numbered from 1, and no number is used twice, so the journal can name an event. The
// numbers of lost events are missing.
type Writer struct {
	dir      string
	limit    int64
	enc      eventEncoder
	packer   *zstd.Encoder
	segments []segment
	file     *os.File // the last segment; nil: the next block begins one
	block    blockInfo
	out      []byte
}

// segment is one file of a recording.
type segment struct {
	path  string
	first uint64 // number of its first event
	size  int64
}

// Options configure a Writer.
type Options struct {
	Catalog *market.Catalog // the units of the events
	Limit   int64           // bytes on disk, at least 64 KiB; 0: 1 GiB
	Next    uint64          // least number of the next event: the journal may know more than a cut off recording
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
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(2*blockRaw),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	r := &Writer{dir: dir, limit: max(64<<10, cmp.Or(o.Limit, 1<<30)),
		enc: eventEncoder{codec.Encoder{Names: codec.NewNames(o.Catalog, nil)}}, packer: packer, segments: segments}
	r.block.first = max(1, o.Next)
	if err := r.resume(); err != nil {
		return nil, fmt.Errorf("recording %s: %w", dir, err)
	}
	return r, nil
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
	if newerBlock(begin[:]) {
		return fmt.Errorf("%s: %w: format %q, this program reads %q; update the program, or move the recording away",
			s.path, boltfile.ErrNewer, begin, blockMagic)
	}
	return nil
}

// resume finds the end of the last segment, to continue there.
func (r *Writer) resume() error {
	for len(r.segments) > 0 {
		last := &r.segments[len(r.segments)-1]
		data, err := os.ReadFile(last.path)
		if err != nil {
			return err
		}
		end, whole, next := scanBlocks(data)
		if end == 0 && whole { // no whole block
			if err := os.Remove(last.path); err != nil {
				return err
			}
			r.segments = r.segments[:len(r.segments)-1]
			continue
		}
		r.block.first = max(r.block.first, next)
		if !whole {
			return nil // damaged inside: keep it, and begin a new segment
		}
		return r.reopen(last, int64(end))
	}
	return nil
}

func (r *Writer) reopen(last *segment, end int64) error {
	file, err := os.OpenFile(last.path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := file.Truncate(end); err != nil {
		return errors.Join(err, file.Close())
	}
	r.file, last.size = file, end
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

// Append adds an event and returns its number. An event other than market data is a mistake of the
// caller. If a block cannot be written, Append returns the error and drops the events of the block;
// the recording continues with the next one.
func (r *Writer) Append(ev *market.Event) (number uint64, err error) {
	b := &r.block
	before, from := b.to, len(r.enc.Buf)
	if b.count == 0 {
		before, b.from = ev.At, ev.At
	}
	r.enc.event(ev, before)
	if err := r.enc.Err(); err != nil {
		r.enc.Cut(from)
		return 0, err
	}
	b.to = ev.At
	b.count++
	number = b.last()
	if len(r.enc.Buf) >= blockRaw {
		return number, r.Flush()
	}
	return number, nil
}

// Next returns the number of the next event.
func (r *Writer) Next() uint64 { return r.block.first + uint64(r.block.count) }

// Flush writes the appended events as one block to the operating system. Small blocks compress
// badly.
func (r *Writer) Flush() error {
	if r.block.count == 0 {
		return nil
	}
	r.out = appendBlock(r.out[:0], &r.block, r.enc.Buf, r.packer)
	err := r.write()
	r.block = blockInfo{first: r.Next()}
	r.enc.Cut(0)
	if err != nil {
		return fmt.Errorf("recording %s: %w", r.dir, err)
	}
	return r.dropOldest()
}

// write appends the block to the last segment, or to a new one if that is full.
func (r *Writer) write() error {
	if r.file != nil && r.segments[len(r.segments)-1].size >= min(maxSegment, r.limit/segmentsPerLimit) {
		if err := r.closeSegment(); err != nil {
			return err
		}
	}
	if r.file == nil {
		path := filepath.Join(r.dir, fmt.Sprintf("%016x%s", r.block.first, segmentExt))
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		r.file, r.segments = file, append(r.segments, segment{path: path, first: r.block.first})
	}
	n, err := r.file.Write(r.out)
	last := &r.segments[len(r.segments)-1]
	if err != nil {
		return errors.Join(err, r.file.Truncate(last.size))
	}
	last.size += int64(n)
	return nil
}

// closeSegment closes the last segment.
func (r *Writer) closeSegment() error {
	file := r.file
	r.file = nil
	return file.Close()
}

// dropOldest deletes the oldest segments while the recording is above its limit.
func (r *Writer) dropOldest() error {
	for r.size() > r.limit && len(r.segments) > 1 {
		if err := os.Remove(r.segments[0].path); err != nil {
			return fmt.Errorf("recording %s: %w", r.dir, err)
		}
		r.segments = slices.Delete(r.segments, 0, 1)
	}
	return nil
}

func (r *Writer) size() (sum int64) {
	for i := range r.segments {
		sum += r.segments[i].size
	}
	return sum
}

// Close flushes and closes.
func (r *Writer) Close() error {
	err := r.Flush()
	if r.file != nil {
		err = cmp.Or(err, r.closeSegment())
	}
	return cmp.Or(err, r.packer.Close())
}
