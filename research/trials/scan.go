package trials

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// Damage is the part of a file that could not be read.
type Damage struct {
	Bytes int64 // in all
	End   bool  // the file ends with damaged bytes: the next append cuts them off
}

// String says what is damaged; empty: nothing.
func (d Damage) String() string {
	switch {
	case d.Bytes == 0:
		return ""
	case d.End:
		return fmt.Sprintf("%d bytes are damaged or torn, at the end too; the tries in them do not count", d.Bytes)
	}
	return fmt.Sprintf("%d bytes are damaged; the tries in them do not count", d.Bytes)
}

// scanner reads frame after frame, with a buffer of fixed size.
type scanner struct {
	path string
	from io.ReaderAt
	size int64 // what is appended later is not read

	buffer  []byte
	first   int64 // place in the file of the buffer's first byte
	at      int   // place in the buffer of the next frame
	payload []byte
	whole   int64 // end of the last whole frame
	damage  Damage
	err     error
}

const bufferSize = 2 * (maxPayload + frameHead + frameTail)

// newScanner reads the frames from a place on.
func newScanner(path string, from io.ReaderAt, at, size int64) *scanner {
	return &scanner{path: path, from: from, size: size, first: at, whole: at,
		buffer: make([]byte, 0, min(bufferSize, max(size-at, 0)))}
}

// next moves on to the next whole frame. Damaged bytes before it are counted and left out.
func (s *scanner) next() bool {
	skipped := int64(0)
	for {
		if !s.fill() {
			return false
		}
		rest := s.buffer[s.at:]
		if n := wholeFrame(rest); n > 0 {
			s.payload = rest[frameHead : n-frameTail]
			s.at += n
			s.whole = s.first + int64(s.at)
			s.damage.Bytes += skipped
			return true
		}
		if len(rest) == 0 {
			s.damage.Bytes += skipped
			s.damage.End = skipped > 0
			return false
		}
		skip := 1 + slices.Index(rest[1:], byte(frameMark&0xff))
		if skip == 0 {
			skip = len(rest)
		}
		s.at, skipped = s.at+skip, skipped+int64(skip)
	}
}

// fill makes sure that the buffer has a whole frame at its place, if the file has.
func (s *scanner) fill() bool {
	if len(s.buffer)-s.at >= maxPayload+frameHead+frameTail || s.first+int64(len(s.buffer)) >= s.size {
		return true
	}
	s.buffer = s.buffer[:copy(s.buffer[:cap(s.buffer)], s.buffer[s.at:])]
	s.first += int64(s.at)
	s.at = 0
	have := len(s.buffer)
	more := min(int64(cap(s.buffer)-have), s.size-s.first-int64(have))
	s.buffer = s.buffer[:have+int(more)]
	if n, err := s.from.ReadAt(s.buffer[have:], s.first+int64(have)); n < int(more) && err != nil {
		if errors.Is(err, io.EOF) { // the end was cut off meanwhile
			s.buffer, s.size = s.buffer[:have+n], s.first+int64(have+n)
			return true
		}
		s.err = fmt.Errorf("read %s: %w", s.path, err)
		return false
	}
	return true
}

// frame is a payload taken apart.
type frame struct {
	kind    kind
	at      int64
	crowded bool
	origin  int // its number, by the order in which origins come
	rows    []byte
	seal    *Seal // of a seal or an opening
}

// try is the try of a place.
func (f *frame) try(i int) Try {
	b := f.rows[i*trySize:]
	return Try{Key: binary.LittleEndian.Uint64(b), Series: binary.LittleEndian.Uint64(b[8:]),
		Sharpe: math.Float64frombits(binary.LittleEndian.Uint64(b[16:])), Days: binary.LittleEndian.Uint32(b[24:]),
		Trips: binary.LittleEndian.Uint32(b[28:])}
}

// tries is the number of tries.
func (f *frame) tries() int { return len(f.rows) / trySize }

// reader reads frames, and numbers their origins.
type reader struct {
	numbers map[string]int // by text
	origins []Origin
	now     frame // reused
	before  int64 // place of the frame
	after   int64 // its end
}

// visit calls each with all frames of the file. A file that is not there has none.
func (l *Ledger) visit(r *reader, each func(*frame) error) (Damage, error) {
	return l.visitFrom(r, headSize, each)
}

// visitFrom calls each with the frames from the end of a frame on.
func (l *Ledger) visitFrom(r *reader, from int64, each func(*frame) error) (d Damage, err error) {
	file, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, fmt.Errorf("open the ledger of tries: %w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return d, &ForeignError{fmt.Sprintf("read %s: is a directory", l.path)}
	}
	size, err := sizeOf(file)
	if err != nil {
		return d, fmt.Errorf("read %s: %w", l.path, err)
	}
	if size == 0 {
		return d, nil
	}
	begun, err := l.begun(file, size)
	if err != nil {
		return d, err
	}
	if !begun {
		return Damage{Bytes: size, End: true}, nil
	}
	if r.numbers == nil {
		r.numbers = map[string]int{}
	}
	s := newScanner(l.path, file, from, size)
	for s.next() {
		var ok bool
		r.before, r.after = s.whole-int64(len(s.payload)+frameHead+frameTail), s.whole
		if r.now, ok = r.frame(s.payload); !ok {
			s.damage.Bytes += int64(len(s.payload) + frameHead + frameTail)
			continue
		}
		if err := each(&r.now); err != nil {
			return s.damage, err
		}
	}
	return s.damage, s.err
}

// sizeOf is the size of the file while no process writes.
func sizeOf(file *os.File) (int64, error) {
	if err := osfile.Lock(file, false); err != nil {
		return 0, err
	}
	size, err := file.Seek(0, io.SeekEnd)
	return size, errors.Join(err, osfile.Unlock(file))
}

// frame takes a payload apart. It returns false for a payload that no program of this version
// writes.
func (r *reader) frame(b []byte) (f frame, ok bool) {
	if len(b) < 9 {
		return f, false
	}
	f.kind, f.at, b = kind(b[0]), int64(binary.LittleEndian.Uint64(b[1:])), b[9:]
	if f.kind == kindSeal || f.kind == kindOpening {
		f.seal = &Seal{}
		return f, json.Unmarshal(b, f.seal) == nil && len(f.seal.Markets) > 0 && f.seal.From < f.seal.To
	}
	if f.kind != kindTries || len(b) < 5 {
		return f, false
	}
	f.crowded = b[0] != 0
	length := int(binary.LittleEndian.Uint32(b[1:]))
	if b = b[5:]; length > len(b) || (len(b)-length)%trySize != 0 {
		return f, false
	}
	f.rows = b[length:]
	f.origin, ok = r.number(b[:length])
	return f, ok
}

// number is the number of an origin.
func (r *reader) number(text []byte) (int, bool) {
	if n, known := r.numbers[string(text)]; known {
		return n, true
	}
	var o Origin
	if json.Unmarshal(bytes.Clone(text), &o) != nil || len(o.Markets) == 0 || o.From >= o.To {
		return 0, false
	}
	r.origins = append(r.origins, o)
	r.numbers[string(text)] = len(r.origins) - 1
	return len(r.origins) - 1, true
}
