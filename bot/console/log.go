// Package console writes to terminals and files: log lines that fit the width, a progress bar,
// JSON. It never decides what is logged. Start at Logger.
package console

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/DeRuina/timberjack"
	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// logTime is UTC, like all times of the program, and says so.
const logTime = "15:04:05Z"

// Columns of a log line for a person.
const (
	narrowestLog = 80  // a narrower terminal breaks the lines itself
	widestLog    = 120 // also on a wider terminal
	logIndent    = "              "
)

// idShown is the number of digits of a client order id on a terminal; `bot explain` takes them.
const idShown = 8

// Writer writes log lines for a person. The fields of an order come in a fixed order, client order
// ids show their first digits, and a line of more than width columns goes on in the next one.
func Writer(out io.Writer, noColor bool, width int) zerolog.ConsoleWriter {
	return zerolog.ConsoleWriter{Out: lineWrapper{out, width}, TimeFormat: logTime, TimeLocation: time.UTC,
		NoColor: noColor, FormatPrepare: shortenIDs,
		FieldsOrder: []string{"strategy", "order", "command", "market", "side", "type", "state", "amount", "filled",
			"price", "fee"}}
}

// logWidth is the number of columns of a log line on the terminal behind a writer.
func logWidth(w io.Writer) int {
	if file, ok := TerminalOf(w); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return min(max(width, narrowestLog), widestLog)
		}
	}
	return widestLog
}

// shortenIDs leaves the first digits of the client order id.
func shortenIDs(line map[string]any) error {
	const field = "client_order_id"
	if text, ok := line[field].(string); ok {
		if id, err := uuid.Parse(text); err == nil {
			line[field] = id.String()[:idShown]
		}
	}
	return nil
}

// lineWrapper wraps lines of more columns than width: at the last space that fits, or within a word
// that is longer than a line. The following lines are indented to the start of the message. Each
// line has to come in one Write.
type lineWrapper struct {
	out   io.Writer
	width int
}

// Write writes one line, or several, by one Write.
func (f lineWrapper) Write(text []byte) (int, error) {
	var folded bytes.Buffer
	for line := range strings.Lines(string(text)) {
		f.wrap(&folded, strings.TrimSuffix(line, "\n"))
	}
	if _, err := f.out.Write(folded.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (f lineWrapper) wrap(dst *bytes.Buffer, line string) {
	for indent := ""; ; indent = logIndent {
		head, rest := cutColumns(line, f.width-len(indent))
		dst.WriteString(indent + head + "\n")
		if rest == "" {
			return
		}
		line = rest
	}
}

// cutColumns cuts a line that has more than width columns. The space where it is cut is left out.
// Colours have no columns.
func cutColumns(line string, width int) (head, rest string) {
	columns, space := 0, 0 // space: behind the last one that fits
	for at := 0; at < len(line); {
		if colour := colourAt(line[at:]); colour > 0 {
			at += colour
			continue
		}
		_, size := utf8.DecodeRuneInString(line[at:])
		if line[at] == ' ' && columns > 0 {
			space = at + 1
		}
		if columns == width && space > 0 {
			return line[:space-1], line[space:]
		}
		if columns == width {
			return line[:at], line[at:]
		}
		columns++
		at += size
	}
	return line, ""
}

// colourAt is the length of the escape sequence that a text begins with, 0 where it begins with
// none.
func colourAt(text string) int {
	if !strings.HasPrefix(text, "\x1b[") {
		return 0
	}
	return strings.IndexByte(text, 'm') + 1
}

// Level is the level of a log, which may change. Several goroutines may use it.
type Level struct{ least atomic.Int32 }

// NewLevel returns a level by its word, one of config.LogLevels.
func NewLevel(word string) *Level {
	l := &Level{}
	l.Set(word)
	return l
}

// Set changes the level to that of a word.
func (l *Level) Set(word string) { l.least.Store(int32(levelOf(word))) }

// Run drops a line below the level: a zerolog.Hook.
func (l *Level) Run(e *zerolog.Event, level zerolog.Level, _ string) {
	if level < zerolog.Level(l.least.Load()) {
		e.Discard()
	}
}

// levelOf is the level of a word.
func levelOf(word string) zerolog.Level {
	if word == "off" {
		return zerolog.Disabled
	}
	level, _ := zerolog.ParseLevel(word) // one of the words
	return level
}

// Logger writes at a level of config.LogLevels: for a person where out is a terminal, as JSON
// otherwise. The others get the same lines as JSON, also where out takes none, such as a terminal
// that is gone. Several goroutines may use the logger: it writes one line at a time.
func Logger(out io.Writer, level string, getenv func(string) string, others ...io.Writer) zerolog.Logger {
	if _, terminal := TerminalOf(out); terminal {
		out = Writer(out, getenv("NO_COLOR") != "", logWidth(out))
	}
	if len(others) > 0 {
		out = zerolog.MultiLevelWriter(append([]io.Writer{out}, others...)...)
	}
	return zerolog.New(zerolog.SyncWriter(out)).Level(levelOf(level)).With().Timestamp().Logger()
}

// TerminalOf is the file behind a writer when that is a terminal.
func TerminalOf(w io.Writer) (*os.File, bool) {
	file, ok := w.(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// LogFile is a log in a file of its own, JSON lines, which only its owner may read. A full file is
// packed and kept beside the new one under a name with its last time; of those the latest are kept.
// A file that was deleted or moved away is made again with the next line.
type LogFile struct {
	mu     sync.Mutex
	file   *timberjack.Logger
	closed bool
}

// OpenLogFile opens a log file, or goes on in the one of the last start. It makes the folder where
// that is missing. mb is the size in MB (2²⁰ bytes) at which a file is full, keep the number of
// packed files. Both are 1 at least.
func OpenLogFile(path string, mb, keep int) (*LogFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, logFileMode) // to say now what is wrong with it
	if err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	return &LogFile{file: &timberjack.Logger{Filename: path, MaxSize: mb, MaxBackups: keep, Compression: "gzip",
		FileMode: logFileMode}}, nil
}

const logFileMode = 0o600

// Write adds a line. An error leaves the lines before it whole.
func (l *LogFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := os.Stat(l.file.Filename); errors.Is(err, fs.ErrNotExist) && !l.closed {
		if err := l.again(); err != nil {
			return 0, fmt.Errorf("%s was deleted or moved away, and cannot be made again: %w", l.file.Filename, err)
		}
	}
	return l.file.Write(line)
}

// again makes the file that is missing.
func (l *LogFile) again() error {
	if err := os.MkdirAll(filepath.Dir(l.file.Filename), 0o700); err != nil {
		return err
	}
	return l.file.Rotate()
}

// Close ends the file, after a full one is packed.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.file.Close()
}
