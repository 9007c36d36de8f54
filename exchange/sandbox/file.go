package sandbox

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// makeFile makes an empty database where there is no file, whole or not at all and with its name on disk, whenever the process or the machine
// dies. What it was written as may stay beside it, as .NAME.*.tmp.
func makeFile(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it will tell what it is
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	db, err := bbolt.Open(file.Name(), 0o600, &bbolt.Options{Timeout: lockWait})
	if err == nil {
		err = db.Close()
	}
	if err = cmp.Or(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links; else another process has made it
		if err := os.Rename(file.Name(), path); err != nil {
			return err
		}
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return cmp.Or(folder.Sync(), folder.Close())
}
