package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// Path returns where the exchange keeps its state, empty where it keeps none.
func (ex *Exchange) Path() string { return ex.config.State }

// Displaced says what became of the exchange's state file: nil while it is the one that is open. Otherwise what is written still goes to the file that
// is open, which is lost with the process; Backup saves it. Any goroutine may call it.
func (ex *Exchange) Displaced() error {
	if ex.store == nil {
		return nil
	}
	switch now, err := os.Stat(ex.store.path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s, the state of the exchange, was deleted or renamed", ex.store.path)
	case err == nil && !os.SameFile(ex.store.file, now):
		return fmt.Errorf("another file stands at %s, the state of the exchange", ex.store.path)
	}
	return nil
}

// Backup writes a copy of the exchange's state file as of the last write: whole or not at all, and synced. A file of that name is replaced. It fails where
// the exchange is closed or keeps no state.
func (ex *Exchange) Backup(path string) error {
	if ex.store == nil {
		return errors.New("the exchange keeps no state")
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	err = ex.store.db.View(func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(file)
		return err
	})
	if err = cmp.Or(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return cmp.Or(folder.Sync(), folder.Close())
}
