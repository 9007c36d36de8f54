package trials

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// Version is the version of the file's format.
const Version = 1

// ErrNewer means that a newer program has written the file.
var ErrNewer = errors.New("use the newer program")

// ForeignError is about something that is no ledger, and so has no seals: another file, a folder.
type ForeignError struct{ text string }

// Error names it.
func (e *ForeignError) Error() string { return e.text }

// Name is the name of the file. It is in the folder of the candle store.
const Name = "trials.log"

const (
	magic     = "TMTRIES\n"
	former    = "TIDETRY\n" // magic of the ledgers before version 1: they may have seals
	headSize  = 16          // of the file
	frameMark = 0x31595254  // "TRY1"
	frameHead = 12          // mark, length, checksum
	frameTail = 4           // length
	// maxPayload bounds a frame, so that a reader's memory is bounded. A longer length is damage.
	maxPayload = 256 << 10
)

// kind is the kind of a frame.
type kind uint8

const (
	kindTries kind = iota + 1
	kindSeal
	kindOpening
)

// Origin is the data that a group of tries has in common.
type Origin struct {
	Strategy string   `json:"strategy"` // kinds of strategies, joined by commas
	Markets  []string `json:"markets"`  // sorted
	From     int64    `json:"from_ms"`  // of the range, Unix milliseconds
	To       int64    `json:"to_ms"`    // exclusive
	Code     string   `json:"code"`     // the program's version
	Data     string   `json:"data"`     // a hash of the candles
}

// Try is a backtest: one choice of strategy, parameters, settings, candles, range and program.
type Try struct {
	Key    uint64  // equal for the same try
	Series uint64  // equal for equal daily returns
	Sharpe float64 // of the daily returns in excess of a hold, per day; NaN: undefined
	Days   uint32  // daily returns
	Trips  uint32  // round trips
}

const trySize = 8 + 8 + 8 + 4 + 4

// Group is tries that came together.
type Group struct {
	Origin
	At int64 // when they were made, Unix milliseconds
	// Crowded says that the tries were chosen near good ones: their Sharpe ratios vary less than
	// those of the space.
	Crowded bool
	Tries   []Try
}

// Ledger is the file of a folder. The zero value is none. Several goroutines and processes may use
// one file.
type Ledger struct {
	path  string
	sizes sizes
}

// At is the ledger of a file, which need not exist.
func At(path string) *Ledger { return &Ledger{path, sizes{first: 2000, tail: 96, chunk: 1 << 19}} }

// Beside is the ledger beside a candle store.
func Beside(candles string) *Ledger { return At(filepath.Join(filepath.Dir(candles), Name)) }

// Path is the file.
func (l *Ledger) Path() string { return l.path }

// crcTable is that of the checksum: Castagnoli, which processors compute.
var crcTable = crc32.MakeTable(crc32.Castagnoli)

// head is the beginning of a file.
func head() []byte { return headOf(magic, Version) }

func headOf(magic string, version uint32) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crcTable))
}

// begun reports whether a file of a size has a head, and refuses a file that this program cannot
// read. A head that was torn counts as none.
func (l *Ledger) begun(file *os.File, size int64) (bool, error) {
	b := make([]byte, min(size, headSize))
	if _, err := file.ReadAt(b, 0); err != nil {
		return false, fmt.Errorf("read %s: %w", l.path, err)
	}
	want := head()
	switch {
	case len(b) < headSize && string(b) == string(want[:len(b)]):
		return false, nil
	case len(b) < headSize || string(b[:len(magic)]) != magic ||
		crc32.Checksum(b[:12], crcTable) != binary.LittleEndian.Uint32(b[12:]):
		text := fmt.Sprintf("%s is no ledger of tries that this program reads, or its first %d bytes are damaged; "+
			"move it away", l.path, headSize)
		begins := string(b[:min(len(b), len(magic))])
		if begins != magic && begins != former && !newScanner(l.path, file, headSize, size).next() {
			return false, &ForeignError{text}
		}
		return false, fmt.Errorf("%s, and seal again what it has sealed (bot sweep --lock-last)", text)
	}
	if version := binary.LittleEndian.Uint32(b[8:]); version != Version {
		return false, fmt.Errorf("%s has format %d, and this program reads up to %d: %w", l.path, version, Version,
			ErrNewer)
	}
	return true, nil
}

// Append appends groups in one write. cut is the number of damaged bytes at the end of the file
// that had to be cut off before.
func (l *Ledger) Append(groups ...Group) (cut int64, err error) {
	var frames []byte
	for i := range groups {
		if frames, err = appendGroup(frames, &groups[i]); err != nil {
			return 0, err
		}
	}
	return l.write(frames)
}

// appendGroup appends the frames of a group: several, where it is large.
func appendGroup(to []byte, g *Group) ([]byte, error) {
	text, err := json.Marshal(&g.Origin)
	if err != nil {
		return nil, err
	}
	if len(text) > maxPayload/2 {
		return nil, fmt.Errorf("write the ledger: %d markets in one try are too many", len(g.Markets))
	}
	for tries := range slices.Chunk(g.Tries, (maxPayload-len(text)-64)/trySize) {
		b := begin(kindTries, g.At)
		if b = append(b, 0); g.Crowded {
			b[len(b)-1] = 1
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
		for _, t := range tries {
			b = binary.LittleEndian.AppendUint64(b, t.Key)
			b = binary.LittleEndian.AppendUint64(b, t.Series)
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(t.Sharpe))
			b = binary.LittleEndian.AppendUint32(b, t.Days)
			b = binary.LittleEndian.AppendUint32(b, t.Trips)
		}
		to = framed(to, b)
	}
	return to, nil
}

// begin begins a payload.
func begin(k kind, at int64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{byte(k)}, uint64(at))
}

// framed appends a payload as a frame.
func framed(to, payload []byte) []byte {
	to = binary.LittleEndian.AppendUint32(to, frameMark)
	to = binary.LittleEndian.AppendUint32(to, uint32(len(payload)))
	to = binary.LittleEndian.AppendUint32(to, crc32.Checksum(payload, crcTable))
	return binary.LittleEndian.AppendUint32(append(to, payload...), uint32(len(payload)))
}

// write appends frames in one write, or none of them.
func (l *Ledger) write(frames []byte) (cut int64, err error) {
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return 0, fmt.Errorf("open the ledger of tries: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := osfile.Lock(file, true); err != nil {
		return 0, fmt.Errorf("lock %s: %w", l.path, err)
	}
	size, begun, err := l.sound(file)
	if err != nil {
		return 0, err
	}
	at, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", l.path, err)
	}
	if size < at {
		cut = at - size
		if err := file.Truncate(size); err != nil {
			return 0, fmt.Errorf("cut %s: %w", l.path, err)
		}
	}
	if !begun {
		frames = slices.Concat(head(), frames)
	}
	if _, err := file.Write(frames); err != nil {
		return cut, errors.Join(fmt.Errorf("write %s: %w", l.path, err), file.Truncate(size))
	}
	return cut, nil
}

// sound is the size of the file without a torn end, and whether the file has a head.
func (l *Ledger) sound(file *os.File) (size int64, begun bool, err error) {
	if size, err = file.Seek(0, io.SeekEnd); err != nil || size == 0 {
		return size, false, err
	}
	if begun, err = l.begun(file, size); err != nil || !begun {
		return 0, false, err
	}
	if l.endsWhole(file, size) {
		return size, true, nil
	}
	s := newScanner(l.path, file, headSize, size)
	for s.next() {
	}
	return s.whole, true, s.err
}

// endsWhole reports whether the last frame is whole. It reads that frame alone.
func (l *Ledger) endsWhole(file *os.File, size int64) bool {
	if size == headSize {
		return true
	}
	var tail [frameTail]byte
	if _, err := file.ReadAt(tail[:], size-frameTail); err != nil {
		return false
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	at := size - frameTail - length - frameHead
	if length > maxPayload || at < headSize {
		return false
	}
	b := make([]byte, size-at)
	_, err := file.ReadAt(b, at)
	return err == nil && wholeFrame(b) == len(b)
}

// wholeFrame is the size of the frame at the beginning of b; 0: there is none.
func wholeFrame(b []byte) int {
	if len(b) < frameHead+frameTail || binary.LittleEndian.Uint32(b) != frameMark {
		return 0
	}
	length := int(binary.LittleEndian.Uint32(b[4:]))
	if length > maxPayload || len(b) < frameHead+length+frameTail {
		return 0
	}
	payload := b[frameHead : frameHead+length]
	if crc32.Checksum(payload, crcTable) != binary.LittleEndian.Uint32(b[8:]) ||
		int(binary.LittleEndian.Uint32(b[frameHead+length:])) != length {
		return 0
	}
	return frameHead + length + frameTail
}
