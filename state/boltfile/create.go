package boltfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// Create makes an empty database at path where there is no file: whole or not at all, whenever the process or the machine dies. What it was
// written as may stay beside it, as .NAME.*.tmp. So a file that is empty or cut off is never a beginning; it was damaged.
func Create(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it will tell what it is
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	db, err := bbolt.Open(file.Name(), 0o600, &bbolt.Options{Timeout: LockWait})
	if err == nil {
		err = db.Close()
	}
	if err = cmp.Or(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	switch err := os.Link(file.Name(), path); {
	case err == nil, errors.Is(err, fs.ErrExist): // another process has made it meanwhile
		return nil
	}
	return os.Rename(file.Name(), path) // a file system without links
}

// NotEmpty refuses a file without a byte.
func NotEmpty(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return fmt.Errorf("%s: %w: it is empty, as no bot leaves it: what was in it is lost", path, ErrCorrupt)
	}
	return nil
}
