package journal

import (
	"fmt"
	"runtime/debug"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// compactTx is how many bytes a transaction of a compaction holds at most.
const compactTx = 1 << 20

// Backup writes a copy of the state file as the last commit left it, also while a bot commits. The
// copy is there whole or not at all and on disk when Backup returns; a file of that name is
// replaced. Only its owner may read it.
func (s *Store) Backup(path string) error { return s.db.Backup(path) }

// Compact writes what the store holds into a new file at path, without the room that deleted and
// replaced pages leave: whole or not at all, like Backup. The path may be the store's own: then
// nothing more can be committed; close it.
func (s *Store) Compact(path string) error {
	return s.rewrite(path, func(into *bbolt.DB) (err error) {
		defer boltfile.CatchCorrupt(s.path, &err, debug.SetPanicOnFault(true))
		return bbolt.Compact(into, s.db.DB, compactTx)
	})
}

// rewrite makes a new database in the place of path, whole or not at all. The path may be the
// store's own: then nothing more can be committed.
func (s *Store) rewrite(path string, write func(into *bbolt.DB) error) error {
	err := boltfile.Rewrite(path, write)
	if err == nil && path == s.path {
		s.unresolved = fmt.Errorf("%s: a compact file took its place; open it again", path)
	}
	return err
}
