package backtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// flushSize is the size at which rows go to the disk.
const flushSize = 32 << 10

// results is the folder of a run's result files. Every file grows under a temporary name and gets
// its own only when all are complete, result.json last: a folder with a new result.json is a
// complete set. One run at a time writes to a folder; files of a killed run are overwritten by the
// next.
type results struct {
	dir   string
	lock  *os.File // the folder, locked until the run or its process ends
	files []*table
}

// table is a result file that grows by appending. Its error is kept and returned by
// results.publish.
type table struct {
	name string
	file *os.File
	buf  []byte
	err  error
}

// newResults creates the folder where it is missing, and locks it for this run.
func newResults(dir string) (*results, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder for the results: %w", err)
	}
	lock, err := osfile.LockFolder(dir)
	if errors.Is(err, osfile.ErrHeld) {
		err = errFolderBusy
	}
	if err != nil {
		return nil, fmt.Errorf("folder for the results: %s: %w", dir, err)
	}
	return &results{dir: dir, lock: lock}, nil
}

// errFolderBusy means that another process has locked a folder.
var errFolderBusy = errors.New("another run is writing here; choose another folder with --out")

// create begins a file. Its temporary name starts with a dot, so that a pattern like *.csv does not
// match it.
func (r *results) create(name string) (*table, error) {
	file, err := os.OpenFile(filepath.Join(r.dir, "."+name+".tmp"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", filepath.Join(r.dir, name), err)
	}
	t := &table{name: name, file: file, buf: make([]byte, 0, flushSize+4<<10)}
	r.files = append(r.files, t)
	return t, nil
}

// flushFull flushes the rows once there are flushSize bytes.
func (t *table) flushFull() {
	if len(t.buf) >= flushSize {
		t.flush()
	}
}

func (t *table) flush() {
	if t.err == nil {
		_, t.err = t.file.Write(t.buf)
	}
	t.buf = t.buf[:0]
}

// Write appends p. What is larger than the room for rows goes to the disk at once.
func (t *table) Write(p []byte) (int, error) {
	if len(p) < flushSize {
		t.buf = append(t.buf, p...)
		t.flushFull()
		return len(p), t.err
	}
	t.flush()
	if t.err == nil {
		_, t.err = t.file.Write(p)
	}
	return len(p), t.err
}

// publish completes all files and gives them their names; after an error none of the temporary
// files is left.
func (r *results) publish() (err error) {
	for _, t := range r.files {
		t.flush()
		err = errors.Join(err, t.err, t.file.Close())
		t.buf = nil
	}
	if err != nil {
		r.discard()
		return fmt.Errorf("write the results to %s: %w", r.dir, err)
	}
	for i, t := range r.files {
		if err := os.Rename(t.file.Name(), filepath.Join(r.dir, t.name)); err != nil {
			r.files = r.files[i:]
			r.discard()
			return fmt.Errorf("write the results to %s: %w", r.dir, err)
		}
	}
	r.files = nil
	r.release()
	return nil
}

// release lets other runs write to the folder.
func (r *results) release() {
	if r.lock != nil {
		_ = r.lock.Close() // which ends the lock
		r.lock = nil
	}
}

// discard removes the temporary files.
func (r *results) discard() {
	for _, t := range r.files {
		_ = t.file.Close() // closed already, or about to be removed
		_ = os.Remove(t.file.Name())
	}
	r.files = nil
	r.release()
}

// names returns the names of the files in the order in which they were begun.
func (r *results) names() []string {
	names := make([]string, 0, len(r.files))
	for _, t := range r.files {
		names = append(names, t.name)
	}
	return names
}
