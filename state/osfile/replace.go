package osfile

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Replace writes a file beside path and renames it to path. On an error path is unchanged. What an
// earlier call left there whose process died is removed. write holds a lock of the file, so that
// the Replace of another process does not take it for left behind.
func Replace(path string, write func(*os.File) error) error {
	sweep(path)
	file, err := Temporary(path)
	if err != nil {
		return err
	}
	err = write(file)
	_ = TryLock(file) // where write has let go of it
	err = cmp.Or(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
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
