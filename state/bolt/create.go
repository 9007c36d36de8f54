package bolt

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// Create makes an empty database at path if there is no file: whole or not at all, with its name on
// disk, even if the process or the machine dies. Its temporary file, .NAME.*.tmp, may stay beside
// it. So an empty or cut off file is always damage, never a new file.
func Create(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // Open reports other errors
	}
	file, err := osfile.Temporary(path)
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
	// ErrExist: another process has made the file meanwhile. Any other error: the file system has
	// no links.
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(file.Name(), path); err != nil {
			return err
		}
	}
	return syncFolder(filepath.Dir(path))
}

// replace is osfile.Replace of a file that is on disk with its name when replace returns.
func replace(path string, write func(*os.File) error) error {
	err := osfile.Replace(path, func(file *os.File) error { return cmp.Or(write(file), file.Sync()) })
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

// Rewrite makes a database at path, which may exist: whole or not at all, and on disk when Rewrite
// returns. The commits of write are not synced one by one.
func Rewrite(path string, write func(into *bbolt.DB) error) error {
	return replace(path, func(file *os.File) error {
		_ = osfile.Unlock(file)                                   // bbolt locks it
		options := bbolt.Options{Timeout: lockWait, NoSync: true} // replace syncs once, at the end
		into, err := bbolt.Open(file.Name(), 0o600, &options)
		if err != nil {
			return err
		}
		into.AllocSize = growStep
		return cmp.Or(write(into), into.Close())
	})
}

// Backup writes a copy of the file as of the last commit, even while other goroutines commit. The
// copy is written whole or not at all, replaces a file of that name, and is on disk when Backup
// returns. Only its owner may read it.
func (f *File) Backup(path string) error {
	return replace(path, func(file *os.File) error {
		return f.View(func(tx *bbolt.Tx) error {
			_, err := tx.WriteTo(file)
			return err
		})
	})
}

// SyncFolders makes the name of a file durable: it syncs the folder of the file, the folder above,
// and so on as far as this process may. Without it a synced file could be lost with its name.
func SyncFolders(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	err = syncFolder(folder)
	for above := filepath.Dir(folder); err == nil && above != folder; above = filepath.Dir(above) {
		if folder = above; syncFolder(folder) != nil {
			return nil // not ours, and neither are the folders above
		}
	}
	return err
}

// syncFolder makes the names of the files in a folder durable.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return cmp.Or(folder.Sync(), folder.Close())
}
