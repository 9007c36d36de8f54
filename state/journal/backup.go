package journal

import (
	"fmt"
	"runtime/debug"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// compactTx is the most bytes that one transaction of a compaction writes.
const compactTx = 1 << 20

// Backup writes a copy of the state file as of the last commit, even while a bot commits. The copy
// is written whole or not at all, replaces a file of that name, and is on disk when Backup returns.
// Only its owner may read it.
func (s *Store) Backup(path string) error { return s.db.Backup(path) }

// Compact writes the content of the store into a new file at path, without the space of deleted and
// replaced pages, whole or not at all. If path is the store's own, the store commits nothing more:
// close it.
func (s *Store) Compact(path string) error {
	return s.rewrite(path, func(into *bbolt.DB) (err error) {
		defer bolt.CatchCorrupt(s.path, &err, debug.SetPanicOnFault(true))
		return bbolt.Compact(into, s.db.DB, compactTx)
	})
}

// rewrite replaces the file at path by a new database, whole or not at all. If path is the store's
// own, the store commits nothing more.
func (s *Store) rewrite(path string, write func(into *bbolt.DB) error) error {
	err := bolt.Rewrite(path, write)
	if err == nil && path == s.path {
		s.unresolved = fmt.Errorf("%s: a compact file took its place; open it again", path)
	}
	return err
}
