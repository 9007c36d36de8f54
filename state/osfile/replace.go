package osfile

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Replace writes a file beside path and renames it to path. On an error path is unchanged. What an
// earlier call left there whose process died is removed. The file is locked, shared, until it has
// its name, so that no other Replace takes it for left behind; a write that locks the name itself
// unlocks the file before.
func Replace(path string, write func(*os.File) error) error {
	sweep(path)
	file, err := heldTemporary(path)
	if err != nil {
		return err
	}
	err = write(file)
	_ = Lock(file, false) // where write has let go of it
	if Locks {
		if holder, failed := os.Open(file.Name()); failed == nil {
			_ = Lock(holder, false)
			defer holder.Close()
		}
	}
	err = cmp.Or(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// heldTemporary makes a temporary file and locks it. Before it is locked, another Replace may take
// it for left behind: then it makes another one.
func heldTemporary(path string) (*os.File, error) {
	for {
		file, err := Temporary(path)
		if err != nil {
			return nil, err
		}
		_ = Lock(file, false)
		mine, err := file.Stat()
		named, gone := os.Stat(file.Name())
		if err == nil && gone == nil && os.SameFile(mine, named) {
			return file, nil
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
	}
}

// Temporary makes a file beside path that only its owner may read: .NAME.*.tmp.
func Temporary(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
}

// sweep removes the temporary files of path that a process has left behind which died: no one
// holds them.
func sweep(path string) {
	dir, name := filepath.Split(path)
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), "."+name+".")
		number, temp := strings.CutSuffix(number, ".tmp")
		if !ours || !temp || strings.Trim(number, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		left := filepath.Join(dir, e.Name())
		file, err := os.OpenFile(left, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if Locks && TryLock(file) == nil {
			_ = os.Remove(left)
		}
		_ = file.Close()
	}
}
