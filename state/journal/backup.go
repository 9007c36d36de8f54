package journal

import (
	"path/filepath"
	"runtime/debug"

	"github.com/tidemark-trading/tidemark/state/boltfile"
	"go.etcd.io/bbolt"
)

// compactTx is how many bytes a transaction of a compaction holds at most.
const compactTx = 1 << 20

// Backup writes a copy of the state file as the last commit left it, also while a bot commits. The copy is there whole or not at all
// and on disk when Backup returns; a file of that name is replaced. Only its owner may read it.
func (s *Store) Backup(path string) error { return s.db.Backup(path) }

// Compact writes what the store holds into a new file at path, without the room that deleted and replaced pages leave: whole or not at
// all, like Backup. The path may be the store's own: then nothing more can be committed; close it.
func (s *Store) Compact(path string) error {
	return s.rewrite(path, func(into *bbolt.DB) (err error) {
		defer boltfile.CatchCorrupt(s.path, &err, debug.SetPanicOnFault(true))
		return bbolt.Compact(into, s.db.DB, compactTx)
	})
}

// syncPlace makes durable that a file has its name, and its folder, and the folders around that as far as they are ours: what is synced and
// cannot be found is lost all the same.
func syncPlace(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	err = boltfile.SyncFolder(folder)
	for above := filepath.Dir(folder); err == nil && above != folder; above = filepath.Dir(above) {
		if folder = above; boltfile.SyncFolder(folder) != nil {
			return nil // somebody else has made it, and what is around it
		}
	}
	return err
}
