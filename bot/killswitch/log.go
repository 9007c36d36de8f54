package killswitch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// LogFile is the name of the log in a state folder.
const LogFile = "direct.log"

// logVersion is the version of the log's lines.
const logVersion = 1

// Errors of a log, for callers that branch.
var (
	ErrDamaged = errors.New("the log is damaged")
	ErrBusy    = errors.New("the log is in use by bot cancel-all --direct")

	errVersion = errors.New("its version is")
)

// Kind is the kind of a line of the log.
type Kind string

// The kinds of lines.
const (
	KindFile    Kind = "file"    // the first line: the log's own id
	KindBegin   Kind = "begin"   // a person started the switch
	KindCancel  Kind = "cancel"  // a cancel is about to leave
	KindSell    Kind = "sell"    // a sale is about to leave
	KindOutcome Kind = "outcome" // what the exchange answered to one of them
	KindEnd     Kind = "end"     // the exchange confirmed that an order has ended, or never existed
	KindDone    Kind = "done"    // the switch has done what it could
)

// Line is a line of the log. Amounts are decimals, times Unix milliseconds on the exchange's clock;
// fields that do not apply are left out.
type Line struct {
	Number   int       `json:"-"` // from 1; the reader sets it
	Kind     Kind      `json:"kind"`
	File     uuid.UUID `json:"file,omitzero"`
	AtMS     int64     `json:"at_ms,omitzero"`
	By       string    `json:"by,omitempty"`      // begin: the command
	Flatten  bool      `json:"flatten,omitempty"` // begin: positions are to be sold
	Client   uuid.UUID `json:"client_order_id,omitzero"`
	Order    uuid.UUID `json:"order_id,omitzero"`
	Market   string    `json:"market,omitempty"`
	Strategy string    `json:"strategy,omitempty"` // sell: empty where a person typed the amount
	Operator int64     `json:"operator_id,omitempty"`
	Amount   string    `json:"amount,omitempty"` // sell: base; end: what was filled
	Value    string    `json:"value,omitempty"`  // end: quote
	Method   string    `json:"method,omitempty"`
	Path     string    `json:"path,omitempty"`
	Body     string    `json:"body,omitempty"`
	SignedMS int64     `json:"signed_ms,omitempty"`
	WindowMS int64     `json:"window_ms,omitempty"` // how long after SignedMS the exchange takes it
	// Answer: of an outcome accepted, rejected, unknown; of an end the order's status, or absent.
	Answer  string `json:"answer,omitempty"`
	Message string `json:"message,omitempty"`
}

// appendLine appends a line in the form of the file: version, number, checksum over the rest, JSON,
// newline.
func appendLine(dst []byte, number int, l *Line) ([]byte, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return dst, err
	}
	sum := crc32.Checksum(append(strconv.AppendInt(nil, int64(number), 10), text...), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Appendf(dst, "%d %d %08x %s\n", logVersion, number, sum, text), nil
}

// parseLine reads a line without its newline.
func parseLine(text []byte) (l Line, err error) {
	parts := bytes.SplitN(text, []byte(" "), 4)
	if len(parts) != 4 {
		return l, errors.New("it is no line of a log")
	}
	version, err := strconv.Atoi(string(parts[0]))
	if err != nil {
		return l, errors.New("it has no version")
	}
	number, err := strconv.Atoi(string(parts[1]))
	if err != nil || number < 1 {
		return l, errors.New("it has no number")
	}
	sum := crc32.Checksum(append(strconv.AppendInt(nil, int64(number), 10), parts[3]...),
		crc32.MakeTable(crc32.Castagnoli))
	if string(parts[2]) != fmt.Sprintf("%08x", sum) {
		return l, errors.New("its checksum is wrong")
	}
	if version != logVersion {
		return l, fmt.Errorf("%w %d, and this program reads %d: use the newer program", errVersion, version, logVersion)
	}
	if err := json.Unmarshal(parts[3], &l); err != nil {
		return l, err
	}
	l.Number = number
	return l, nil
}

// parse reads the lines of a log, and their length in bytes. Text after the last whole line was cut
// off while it was written, and nothing was sent for it; damage before a whole line is an error
// that wraps ErrDamaged.
func parse(data []byte) (lines []Line, whole int, err error) {
	var torn error
	for at := 0; at < len(data); {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			break
		}
		l, wrong := parseLine(data[at : at+end])
		at += end + 1
		switch {
		case errors.Is(wrong, errVersion):
			return nil, 0, fmt.Errorf("line %d: %w", len(lines)+1, wrong)
		case wrong == nil && torn != nil:
			return nil, 0, fmt.Errorf("%w: line %d: %w, and others follow it", ErrDamaged, len(lines)+1, torn)
		case wrong == nil && l.Number != len(lines)+1:
			return nil, 0, fmt.Errorf("%w: line %d has number %d", ErrDamaged, len(lines)+1, l.Number)
		case wrong != nil && torn == nil:
			torn = wrong
		case wrong == nil:
			lines, whole = append(lines, l), at
		}
	}
	if bytes.Count(data[whole:], []byte(`{"kind":`)) > 1 {
		return nil, 0, fmt.Errorf("%w: line %d: lines follow it, which run into each other", ErrDamaged, len(lines)+1)
	}
	if len(lines) > 0 && (lines[0].Kind != KindFile || lines[0].File == uuid.Nil) {
		return nil, 0, fmt.Errorf("%w: line 1: it does not name the log", ErrDamaged)
	}
	return lines, whole, nil
}

// Read reads the lines of a log that another process may be writing. A missing log has none.
func Read(path string) ([]Line, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	lines, _, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

// Log is a log that only this process appends to. Close it.
type Log struct {
	path  string
	file  *os.File
	lines []Line
	size  int64 // of the lines that are whole
}

// Open opens the log at a path for appending and creates a missing one durably. It cuts off an
// incomplete last line. An error wraps ErrBusy where another process has the log.
func Open(path string) (*Log, error) {
	l, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if len(l.lines) == 0 {
		if err := errors.Join(l.Append(&Line{Kind: KindFile, File: uuid.New()}),
			syncFolder(filepath.Dir(path))); err != nil {
			return nil, errors.Join(fmt.Errorf("make %s: %w", path, err), l.Close())
		}
	}
	return l, nil
}

// OpenExisting opens and locks the log at a path for reading, so that no other process appends to
// it. nil: there is none.
func OpenExisting(path string) (*Log, error) {
	l, err := open(path, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return l, err
}

func open(path string, flags int) (*Log, error) {
	for {
		file, err := os.OpenFile(path, flags, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
		err = osfile.TryLock(file)
		if errors.Is(err, osfile.ErrHeld) {
			err = ErrBusy
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), file.Close())
		}
		held, err := file.Stat()
		there, missing := os.Stat(path)
		if err == nil && missing == nil && os.SameFile(held, there) {
			l := &Log{path: path, file: file}
			if err := l.load(); err != nil {
				return nil, errors.Join(err, file.Close())
			}
			return l, nil
		}
		if err := errors.Join(err, file.Close()); err != nil { // the log was retired between opening and locking
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
	}
}

// load reads the lines and cuts off an incomplete last one.
func (l *Log) load() error {
	data, err := io.ReadAll(l.file)
	if err != nil {
		return fmt.Errorf("read %s: %w", l.path, err)
	}
	lines, whole, err := parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	l.lines, l.size = lines, int64(whole)
	if whole < len(data) {
		if err := errors.Join(l.file.Truncate(l.size), l.file.Sync()); err != nil {
			return fmt.Errorf("%s: cut away a line that is not whole: %w", l.path, err)
		}
	}
	return nil
}

// Lines are the lines of the log so far.
func (l *Log) Lines() []Line { return l.lines }

// ID is the log's own id.
func (l *Log) ID() uuid.UUID {
	if len(l.lines) == 0 {
		return uuid.Nil
	}
	return l.lines[0].File
}

// Append adds a line, durably.
func (l *Log) Append(line *Line) error {
	number := len(l.lines) + 1
	text, err := appendLine(nil, number, line)
	if err == nil {
		_, err = l.file.WriteAt(text, l.size)
	}
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w; nothing is sent without it: name another place with --log FILE", l.path, err)
	}
	line.Number = number
	l.lines, l.size = append(l.lines, *line), l.size+int64(len(text))
	return nil
}

// Retire renames the log, durably, once all its lines are in the account. Close it afterwards.
func (l *Log) Retire() (to string, err error) {
	to = filepath.Join(filepath.Dir(l.path), fmt.Sprintf("direct-%s.log", l.ID()))
	if l.ID() == uuid.Nil { // it was cut off before it began
		to = filepath.Join(filepath.Dir(l.path), "direct-empty.log")
	}
	if err := os.Rename(l.path, to); err != nil {
		return "", fmt.Errorf("move %s away: %w", l.path, err)
	}
	return to, syncFolder(filepath.Dir(l.path))
}

// Close releases the log.
func (l *Log) Close() error { return l.file.Close() }

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
