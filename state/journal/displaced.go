package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
)

// ErrDisplaced is wrapped where the file that a store has open is no longer the one of its name, or no longer whole.
var ErrDisplaced = errors.New("the bot's state file was taken away")

// Displaced says what became of the file of the store's name: nil while it is the one that is open and as long as it should be. Otherwise commits
// still go to the file that is open, which is lost with the process; Backup saves it. Any goroutine may call it. An error of the file system
// that says neither is none.
func (s *Store) Displaced() error {
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was deleted or renamed", ErrDisplaced, s.path)
	case err != nil:
		return nil
	case !os.SameFile(s.file, now):
		return fmt.Errorf("%w: another file stands at %s", ErrDisplaced, s.path)
	}
	var whole int64
	if s.view(func(tx *bbolt.Tx) error { whole = tx.Size(); return nil }) == nil && now.Size() < whole {
		return fmt.Errorf("%w: %s was cut off to %d bytes of %d", ErrDisplaced, s.path, now.Size(), whole)
	}
	return nil
}
