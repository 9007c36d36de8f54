package journal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/tidemark-trading/tidemark/state/boltfile"
	"go.etcd.io/bbolt"
)

// compactTx is how many bytes a transaction of a compaction holds at most.
const compactTx = 1 << 20

// Backup writes a copy of the state file as the last commit left it, also while a bot commits. The copy is there whole or not at all
// and on disk when Backup returns; a file of that name is replaced. Only its owner may read it.
func (s *Store) Backup(path string) error {
	return replaceFile(path, func(file *os.File) error {
		return s.view(func(tx *bbolt.Tx) error {
			_, err := tx.WriteTo(file)
			return err
		})
	})
}

// Compact writes what the store holds into a new file at path, without the room that deleted and replaced pages leave: whole or not at
// all, like Backup. The path may be the store's own: then nothing more can be committed; close it.
func (s *Store) Compact(path string) error {
	return s.rewrite(path, func(into *bbolt.DB) (err error) {
		defer boltfile.CatchCorrupt(s.path, &err, debug.SetPanicOnFault(true))
		return bbolt.Compact(into, s.db, compactTx)
	})
}

// replaceFile writes a file beside path, syncs it and renames it to path, then syncs the folder. On an error path is as it was.
func replaceFile(path string, write func(*os.File) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
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

// syncFolder makes durable what a folder's files are called.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return cmp.Or(folder.Sync(), folder.Close())
}

// syncPlace makes durable that a file has its name, and its folder, and the folders around that as far as they are ours: what is synced and
// cannot be found is lost all the same.
func syncPlace(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	err = syncFolder(folder)
	for above := filepath.Dir(folder); err == nil && above != folder; above = filepath.Dir(above) {
		if folder = above; syncFolder(folder) != nil {
			return nil // somebody else has made it, and what is around it
		}
	}
	return err
}
