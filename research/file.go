package research

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// fileVersion is the version of the sweep's file.
const fileVersion = 1

// The file is a list of frames: length, checksum, payload. The first payload is the Identity in
// JSON, each further one is a group in binary, in the order of the groups. A group is on disk
// before the next one is written, so that a kill tears at most the last frame.
const (
	fileMagic  = "TMSWEEP\n"
	frameHead  = 8                 // length and CRC-32C of the payload
	largeFrame = 1 << 30           // a longer length is damage
	rowHead    = 8 + 2 + 2 + 4 + 4 // set, rung and flags, figures, first day, days
)

// Identity names the sweep that a file belongs to. Another sweep has another file.
type Identity struct {
	Version int      `json:"version"`
	Code    string   `json:"code"`   // the program's version
	Config  string   `json:"config"` // a hash of the settings that are not varied
	Data    string   `json:"data"`   // a hash of the candles
	Space   []string `json:"space"`  // KEY=VALUES of each dimension
	Method  Method   `json:"method"`
	Sets    int      `json:"sets"`
	Seed    uint64   `json:"seed"`

	Objective string   `json:"objective"` // it decides which sets an adaptive method tries
	Figures   []string `json:"figures"`   // of each row, by place
}

// hash is a hash of all fields, in hexadecimal digits.
func (id *Identity) hash() string {
	text, _ := json.Marshal(id) // of texts and numbers
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// differences names the fields in which two identities differ.
func (id *Identity) differences(other *Identity) (names []string) {
	for _, f := range [...]struct {
		name string
		same bool
	}{
		{"the version of the program", id.Code == other.Code}, {"the config", id.Config == other.Config},
		{"the candles", id.Data == other.Data}, {"the space", slices.Equal(id.Space, other.Space)},
		{"the method", id.Method == other.Method && id.Sets == other.Sets}, {"the seed", id.Seed == other.Seed},
		{"the objective", id.Objective == other.Objective}, {"the figures", slices.Equal(id.Figures, other.Figures)},
	} {
		if !f.same {
			names = append(names, f.name)
		}
	}
	return names
}

// Row is the record of a set that has run.
type Row struct {
	Set     uint64
	Rung    uint8 // see Halving: the number of rungs after it; 0: the whole range
	Figures Figures
	Halted  bool // a strategy was halted
	// First is the end of the first day with a return, in days since 1970. Daily are the returns by
	// day; Excess are those less what a hold at the set's own mean exposure made.
	First         int32
	Daily, Excess []float32
}

// file is the sweep's file, opened for reading and appending by one process.
type file struct {
	path string
	on   *os.File
	ends []int64   // by frame, the identity first
	torn string    // what was wrong behind the last whole group; empty: nothing
	room []byte    // of append, used again
	read sync.Pool // of *[]byte: room of series
}

// openFile opens the file of a sweep, or begins it. What follows the last whole group is cut off.
func openFile(path string, id *Identity) (f *file, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("open the sweep's file: %w", err)
	}
	on, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the sweep's file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, on.Close())
		}
	}()
	if err := Lock(on); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f = &file{path: path, on: on}
	size, err := on.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	begun, err := f.scan(size, id)
	switch {
	case err != nil:
		return nil, err
	case !begun:
		return f, f.begin(id)
	}
	return f, f.cut(f.end())
}

// end is the end of the last whole frame.
func (f *file) end() int64 { return f.ends[len(f.ends)-1] }

// groups is the number of whole groups.
func (f *file) groups() int { return len(f.ends) - 1 }

// scan reads the frames. It reports whether the file has a whole identity.
func (f *file) scan(size int64, id *Identity) (begun bool, err error) {
	head := make([]byte, len(fileMagic))
	switch n, err := f.on.ReadAt(head, 0); {
	case size == 0 || n < len(head) && strings.HasPrefix(fileMagic, string(head[:n])):
		return false, nil
	case n < len(head) || string(head) != fileMagic:
		return false, fmt.Errorf("%s is no file of a sweep that this program reads; move it away, or write elsewhere",
			f.path)
	case err != nil:
		return false, fmt.Errorf("read %s: %w", f.path, err)
	}
	at := int64(len(fileMagic))
	text, err := f.frame(at, size)
	if err != nil {
		return false, f.unbegun(at, size, err)
	}
	if err := f.belongs(text, id); err != nil {
		return false, err
	}
	at += frameHead + int64(len(text))
	for f.ends = []int64{at}; at < size; f.ends = append(f.ends, at) {
		payload, err := f.frame(at, size)
		if errors.Is(err, errDamaged) {
			f.torn = fmt.Sprintf("%d bytes behind group %d are damaged or torn; what they held is computed again",
				size-at, f.groups())
			return true, nil
		}
		if err != nil {
			return false, err
		}
		at += frameHead + int64(len(payload))
	}
	return true, nil
}

// unbegun decides on a file without a whole identity: a kill has torn it, or it is damaged.
func (f *file) unbegun(at, size int64, err error) error {
	if !errors.Is(err, errDamaged) {
		return err
	}
	var head [frameHead]byte
	if n, _ := f.on.ReadAt(head[:], at); n == frameHead &&
		at+frameHead+int64(binary.LittleEndian.Uint32(head[:])) < size {
		return fmt.Errorf("%s is damaged at its beginning: nothing says to which sweep it belongs; move it away",
			f.path)
	}
	return f.cut(0)
}

// belongs checks that the file is of this sweep.
func (f *file) belongs(text []byte, id *Identity) error {
	var have Identity
	if err := json.Unmarshal(text, &have); err != nil {
		return fmt.Errorf("%s: its identity is no JSON: %w", f.path, err)
	}
	if err := f.known(have.Version); err != nil {
		return err
	}
	if others := id.differences(&have); len(others) > 0 {
		return fmt.Errorf("%s belongs to another sweep, which differs in %s; write to another file, or move this one "+
			"away",
			f.path, strings.Join(others, ", "))
	}
	return nil
}

// known checks that this program reads a format.
func (f *file) known(version int) error {
	if version != fileVersion {
		return fmt.Errorf("%s has format %d, and this program reads up to %d; use the newer program", f.path, version,
			fileVersion)
	}
	return nil
}

var errDamaged = errors.New("damaged or torn")

// crcTable is that of the checksum: Castagnoli, which processors compute.
var crcTable = crc32.MakeTable(crc32.Castagnoli)

// frame reads the payload of the frame at a place.
func (f *file) frame(at, size int64) ([]byte, error) {
	var head [frameHead]byte
	if at+frameHead > size {
		return nil, errDamaged
	}
	if _, err := f.on.ReadAt(head[:], at); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.path, err)
	}
	length := int64(binary.LittleEndian.Uint32(head[:]))
	if length > largeFrame || at+frameHead+length > size {
		return nil, errDamaged
	}
	payload := make([]byte, length)
	if _, err := f.on.ReadAt(payload, at+frameHead); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.path, err)
	}
	if crc32.Checksum(payload, crcTable) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, errDamaged
	}
	return payload, nil
}

// begin writes the magic number and the identity. They get to the disk with the first group.
func (f *file) begin(id *Identity) error {
	text, err := json.Marshal(id)
	if err != nil {
		return err
	}
	if err := f.cut(0); err != nil {
		return err
	}
	head := slices.Concat([]byte(fileMagic), framed(text))
	if _, err := f.on.WriteAt(head, 0); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", f.path, err), f.cut(0))
	}
	f.ends = []int64{int64(len(head))}
	return nil
}

// cut ends the file at a place.
func (f *file) cut(at int64) error {
	if err := f.on.Truncate(at); err != nil {
		return fmt.Errorf("cut %s: %w", f.path, err)
	}
	return nil
}

// append writes groups, each as a frame, and waits until they are on disk. Where they do not all
// fit on a full disk, the first ones stay; after another error the file ends where it did.
func (f *file) append(groups ...[]Row) error {
	f.room = f.room[:0]
	ends, at := f.ends, f.end()
	for _, rows := range groups {
		f.room = appendFrame(f.room, rows)
		ends = append(ends, at+int64(len(f.room)))
	}
	_, full := f.on.WriteAt(f.room, at)
	var err error
	if full != nil {
		ends, err = f.writeEach(ends)
	}
	if err == nil {
		err = f.on.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", f.path, errors.Join(full, err)), f.cut(at))
	}
	if f.ends = ends; full != nil {
		return fmt.Errorf("write %s: %w", f.path, full)
	}
	return nil
}

// writeEach writes the groups of append one by one, as far as there is room, and returns the ends
// of those that the file has then.
func (f *file) writeEach(ends []int64) ([]int64, error) {
	at := f.end()
	for have := len(f.ends); have < len(ends); have++ {
		if _, err := f.on.WriteAt(f.room[ends[have-1]-at:ends[have]-at], ends[have-1]); err != nil {
			ends = ends[:have]
		}
	}
	return ends, f.cut(ends[len(ends)-1])
}

// group reads a group, from 0.
func (f *file) group(n int) ([]Row, error) {
	payload, err := f.frame(f.ends[n], f.ends[n+1])
	if err != nil {
		return nil, fmt.Errorf("read group %d of %s: %w", n+1, f.path, err)
	}
	rows, ok := rowsOf(payload)
	if !ok {
		return nil, fmt.Errorf("read group %d of %s: %w", n+1, f.path, errDamaged)
	}
	return rows, nil
}

// size is the size of a row in the file.
func (f *file) size(r *Row) int64 { return rowHead + 8*int64(len(r.Figures)) + 8*int64(len(r.Daily)) }

// place is where the first row of a group is.
func (f *file) place(group int) int64 { return f.ends[group] + frameHead + 4 }

// series reads the daily returns of a try, or those in excess of a hold. Several goroutines may
// call it.
func (f *file) series(t *Try, excess bool, into []float64) error {
	room, is := f.read.Get().(*[]byte)
	if !is {
		room = new([]byte)
	}
	defer f.read.Put(room)
	*room = slices.Grow((*room)[:0], 4*t.days)
	b, at := (*room)[:4*t.days], t.at+rowHead+8*int64(len(t.Figures))
	if excess {
		at += int64(len(b))
	}
	if _, err := f.on.ReadAt(b, at); err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	for i := range t.days {
		into[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return nil
}

// Close closes the file and gives its lock back.
func (f *file) Close() error { return f.on.Close() }

// framed is a payload with its length and checksum.
func framed(payload []byte) []byte {
	return closeFrame(append(make([]byte, frameHead), payload...), 0)
}

// closeFrame fills in the length and the checksum of the frame that begins at a place and ends at
// the end.
func closeFrame(b []byte, at int) []byte {
	payload := b[at+frameHead:]
	binary.LittleEndian.PutUint32(b[at:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[at+4:], crc32.Checksum(payload, crcTable))
	return b
}

// appendFrame appends rows in binary, framed.
func appendFrame(b []byte, rows []Row) []byte {
	size := frameHead + 4
	for i := range rows {
		size += rowHead + 8*len(rows[i].Figures) + 4*len(rows[i].Daily) + 4*len(rows[i].Excess)
	}
	at := len(b)
	b = slices.Grow(b, size)[:at+frameHead]
	b = binary.LittleEndian.AppendUint32(b, uint32(len(rows)))
	for i := range rows {
		r := &rows[i]
		b = binary.LittleEndian.AppendUint64(b, r.Set)
		b = append(b, r.Rung, flag(r.Halted))
		b = binary.LittleEndian.AppendUint16(b, uint16(len(r.Figures)))
		b = binary.LittleEndian.AppendUint32(b, uint32(r.First))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Daily)))
		for _, x := range r.Figures {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		for _, series := range [...][]float32{r.Daily, r.Excess} {
			for _, x := range series {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
		}
	}
	return closeFrame(b, at)
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// rowsOf reads what appendFrame wrote, without the frame.
func rowsOf(b []byte) (rows []Row, ok bool) {
	if len(b) < 4 {
		return nil, false
	}
	count := binary.LittleEndian.Uint32(b)
	for b = b[4:]; len(b) >= rowHead; {
		r := Row{Set: binary.LittleEndian.Uint64(b), Rung: b[8], Halted: b[9] != 0,
			First: int32(binary.LittleEndian.Uint32(b[12:]))}
		figures, days := int(binary.LittleEndian.Uint16(b[10:])), int(binary.LittleEndian.Uint32(b[16:]))
		if b = b[rowHead:]; days > len(b) || 8*figures+8*days > len(b) {
			return nil, false
		}
		r.Figures = make(Figures, figures)
		for i := range r.Figures {
			r.Figures[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		b = b[8*figures:]
		r.Daily, b = floats(b, days)
		r.Excess, b = floats(b, days)
		rows = append(rows, r)
	}
	return rows, len(b) == 0 && uint32(len(rows)) == count
}

// EncodeRows writes the rows of a group as the file has them.
func EncodeRows(rows []Row) []byte { return appendFrame(nil, rows)[frameHead:] }

// DecodeRows reads what EncodeRows wrote, and checks that the rows are those of a group.
func DecodeRows(b []byte, g *Group) ([]Row, error) {
	rows, ok := rowsOf(b)
	if !ok {
		return nil, fmt.Errorf("%d bytes are no rows of a group", len(b))
	}
	same := slices.EqualFunc(rows, g.Sets, func(r Row, set uint64) bool {
		return r.Set == set && r.Rung == g.Rung && len(r.Figures) == len(figureTable)
	})
	if !same {
		return nil, errors.New("the rows are those of other sets")
	}
	return rows, nil
}

// floats reads so many numbers, and returns what follows them.
func floats(b []byte, n int) ([]float32, []byte) {
	list := make([]float32, n)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return list, b[4*n:]
}
