package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
)

// Displaced checks that the path of the store still leads to the open file and that this file is
// not cut off; otherwise the error wraps ErrDisplaced. Commits then still go to the open file,
// which is lost when the process ends; Backup saves it. Any goroutine may call it. If the file
// system cannot answer, it returns nil.
func (s *Store) Displaced() error {
	var whole int64 // asked for before the file's size: a commit between the two questions only adds to it
	_ = s.db.View(func(tx *bbolt.Tx) error { whole = tx.Size(); return nil })
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was deleted or renamed", ErrDisplaced, s.path)
	case err != nil:
		return nil
	case !s.db.Is(now):
		return fmt.Errorf("%w: another file stands at %s", ErrDisplaced, s.path)
	case now.Size() < whole:
		return fmt.Errorf("%w: %s was cut off to %d bytes of %d", ErrDisplaced, s.path, now.Size(), whole)
	}
	return nil
}
