package research

import (
	"errors"
	"os"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// Lock locks the file of a search for this process, until the file is closed. The error wraps
// ErrBusy if another process has locked it.
func Lock(file *os.File) error {
	err := osfile.TryLock(file)
	if errors.Is(err, osfile.ErrHeld) {
		return ErrBusy
	}
	return err
}
