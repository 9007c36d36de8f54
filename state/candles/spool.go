package candles

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// maxSpool is the number of bytes of packed chunks that a loader keeps in memory, a good million
// candles of 1m.
const maxSpool = 10 << 20

// spool keeps the packed chunks of a loader by number: in memory up to a limit, then all of them in
// a temporary file. So a load of any size takes little memory.
type spool struct {
	interval market.Interval
	path     string // of the store; the file is made beside it
	limit    int
	chunks   map[int64]*loadedChunk

	bytes  int // in memory
	file   *os.File
	end    int64  // of the file
	buffer []byte // of the last chunk read from the file
}

// loadedChunk is a packed chunk, and the candles that came later.
type loadedChunk struct {
	head   chunkHeader
	packed []byte // nil: it is in the file
	at     int64  // in the file
	size   int
	room   int // bytes that it may grow to at this place
	late   lateQueue
}

// put keeps a copy of a packed chunk in place of the one before.
func (s *spool) put(number int64, packed []byte) (err error) {
	chunk := s.chunks[number]
	if chunk == nil {
		chunk = &loadedChunk{}
		s.chunks[number] = chunk
	}
	if chunk.head, err = readChunkHead(s.interval, number, packed); err != nil {
		return chunkError(s.interval, number, err)
	}
	if s.file != nil {
		return s.write(chunk, packed)
	}
	s.bytes += len(packed) - chunk.size
	chunk.packed, chunk.size = slices.Clone(packed), len(packed)
	if s.bytes <= s.limit {
		return nil
	}
	return s.spill()
}

// spilled reports whether the chunks are in the file.
func (s *spool) spilled() bool { return s.file != nil }

// spill moves all chunks to a temporary file. No name leads to it, so that nothing stays of it when
// the process dies; a system that cannot remove the name of an open file removes it at close.
func (s *spool) spill() (err error) {
	if s.file, err = os.CreateTemp(filepath.Dir(s.path), "."+filepath.Base(s.path)+".*.tmp"); err != nil {
		return fmt.Errorf("make a file for the packed candles: %w", err)
	}
	_ = os.Remove(s.file.Name())
	for _, number := range sortedKeys(s.chunks) {
		chunk := s.chunks[number]
		if err := s.write(chunk, chunk.packed); err != nil {
			return err
		}
		chunk.packed = nil
	}
	s.bytes = 0
	return nil
}

// write puts a chunk into the file. One that outgrows its place gets a place of twice its size at
// the end: so the file has less than four times the bytes of its chunks.
func (s *spool) write(chunk *loadedChunk, packed []byte) error {
	if len(packed) > chunk.room {
		if chunk.at = s.end; chunk.room == 0 {
			chunk.room = len(packed)
		} else {
			chunk.room = 1 << bits.Len(uint(len(packed)))
		}
		s.end += int64(chunk.room)
	}
	chunk.size = len(packed)
	if _, err := s.file.WriteAt(packed, chunk.at); err != nil {
		return fmt.Errorf("write packed candles aside: %w", err)
	}
	return nil
}

// packed returns the bytes of a chunk, valid until the next call and the next put.
func (s *spool) packed(chunk *loadedChunk) ([]byte, error) {
	if s.file == nil {
		return chunk.packed, nil
	}
	s.buffer = slices.Grow(s.buffer[:0], chunk.size)[:chunk.size]
	if _, err := s.file.ReadAt(s.buffer, chunk.at); err != nil {
		return nil, fmt.Errorf("read packed candles: %w", err)
	}
	return s.buffer, nil
}

// close removes the temporary file.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); err == nil && gone != nil && !os.IsNotExist(gone) {
		err = gone
	}
	return err
}
