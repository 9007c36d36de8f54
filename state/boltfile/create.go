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

// Create makes an empty database at path where there is no file: whole or not at all and with its
// name on disk, whenever the process or the machine dies. What it was written as may stay beside
// it, as .NAME.*.tmp. So a file that is empty or cut off is never a beginning; it was damaged.
func Create(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it will tell what it is
	}
	file, err := temporary(path)
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
	// Where the name is taken another process has made the file meanwhile; any other error is that
	// of a file system without links.
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(file.Name(), path); err != nil {
			return err
		}
	}
	return syncFolder(filepath.Dir(path))
}

// temporary makes a file beside path, readable by its owner only.
func temporary(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
}

// replace writes a file beside path, syncs it, renames it to path and syncs the folder. On an error
// path is as it was.
func replace(path string, write func(*os.File) error) error {
	file, err := temporary(path)
	if err != nil {
		return err
	}
	err = cmp.Or(write(file), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(file.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

// Rewrite makes a database at path, which may exist: whole or not at all, and on disk when Rewrite
// returns. What write commits is not synced each time.
func Rewrite(path string, write func(into *bbolt.DB) error) error {
	return replace(path, func(file *os.File) error {
		options := bbolt.Options{Timeout: lockWait, NoSync: true} // replace syncs once, at the end
		into, err := bbolt.Open(file.Name(), 0o600, &options)
		if err != nil {
			return err
		}
		into.AllocSize = growStep
		return cmp.Or(write(into), into.Close())
	})
}

// Backup writes a copy of the file as the last commit left it, also while others commit. The copy
// is there whole or not at all, and on disk when Backup returns; a file of that name is replaced.
// Only its owner may read it.
func (f *File) Backup(path string) error {
	return replace(path, func(file *os.File) error {
		return f.View(func(tx *bbolt.Tx) error {
			_, err := tx.WriteTo(file)
			return err
		})
	})
}

// SyncFolders makes durable that a file has its name, that its folder has its own, and so on upwards
// as far as the folders are ours: a file that is synced and cannot be found is lost all the same.
func SyncFolders(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	err = syncFolder(folder)
	for above := filepath.Dir(folder); err == nil && above != folder; above = filepath.Dir(above) {
		if folder = above; syncFolder(folder) != nil {
			return nil // the folder is not ours, nor are those around it
		}
	}
	return err
}

// syncFolder makes durable what the files of a folder are called.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return cmp.Or(folder.Sync(), folder.Close())
}
