package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/DeRuina/timberjack"
)

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
