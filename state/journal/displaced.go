package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
)

// Displaced says what became of the file of the store's name: nil while it is the one that is open
// and as long as it should be. Otherwise commits still go to the file that is open, which is lost
// with the process; Backup saves it. Any goroutine may call it. An error of the file system that
// says neither is none.
func (s *Store) Displaced() error {
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was deleted or renamed", ErrDisplaced, s.path)
	case err != nil:
		return nil
	case !s.db.Is(now):
		return fmt.Errorf("%w: another file stands at %s", ErrDisplaced, s.path)
	}
	var whole int64
	if s.db.View(func(tx *bbolt.Tx) error { whole = tx.Size(); return nil }) == nil && now.Size() < whole {
		return fmt.Errorf("%w: %s was cut off to %d bytes of %d", ErrDisplaced, s.path, now.Size(), whole)
	}
	return nil
}
