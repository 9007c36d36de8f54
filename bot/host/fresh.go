package host

import (
	"os"
	"sync"
	"time"
)

// Fresh is what files say: a certificate, a secret. It reads them again when they change. While
// they cannot be read, or say nothing that may be, the value before holds.
type Fresh[T any] struct {
	read  func() (T, error)
	files []string // none: the value is fixed

	mu     sync.Mutex
	value  T
	of     []fileState // of the files whose value it is
	failed []fileState // of those that could not be read; nil: they could
}

// fileState tells a file from what it was before.
type fileState struct {
	at   time.Time
	size int64
	mode os.FileMode // who may read it
}

// NewFresh reads files with read.
func NewFresh[T any](read func() (T, error), files ...string) (f *Fresh[T], err error) {
	f = &Fresh[T]{read: read, files: files}
	of, failed := f.states()
	if f.value, err = read(); err != nil { // it knows more words than failed
		return nil, err
	}
	f.of = of
	return f, failed
}

// Fixed is a value that stands in no file.
func Fixed[T any](value T) *Fresh[T] { return &Fresh[T]{value: value} }

// Latest is the value. changed reports whether it is another one than at the call before; err says
// once of changed files why they are not taken.
func (f *Fresh[T]) Latest() (value T, changed bool, err error) {
	if len(f.files) == 0 {
		return f.value, false, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := f.states()
	if err == nil && same(now, f.of) {
		f.failed = nil
		return f.value, false, nil
	}
	told := f.failed != nil && same(now, f.failed)
	if err == nil && !told {
		if value, err = f.read(); err == nil {
			f.value, f.of, f.failed = value, now, nil
			return f.value, true, nil
		}
	}
	if f.failed = now; told {
		err = nil
	}
	return f.value, false, err
}

// states are those of the files; a file that is not there has the zero one.
func (f *Fresh[T]) states() (states []fileState, err error) {
	states = make([]fileState, len(f.files))
	for i, file := range f.files {
		info, failed := os.Stat(file)
		if failed != nil {
			err = failed
			continue
		}
		states[i] = fileState{info.ModTime(), info.Size(), info.Mode()}
	}
	return states, err
}

func same(a, b []fileState) bool {
	for i := range a {
		if a[i].size != b[i].size || a[i].mode != b[i].mode || !a[i].at.Equal(b[i].at) {
			return false
		}
	}
	return true
}
