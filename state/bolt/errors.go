package bolt

import (
	"errors"
	"fmt"
	"strings"

	bolterrors "go.etcd.io/bbolt/errors"
)

// ErrCorrupt is wrapped when this program cannot have written the stored bytes.
var ErrCorrupt = errors.New("corrupt")

// ErrLocked is wrapped when another process holds the file.
var ErrLocked = errors.New("in use by another process")

// ErrNewer is wrapped when a newer program wrote the file.
var ErrNewer = errors.New("written by a newer program")

// ErrNotFound is wrapped when there is no file, or it lacks the wanted row.
var ErrNotFound = errors.New("not found")

// Damage is a fault in the structure of a file: bbolt never writes it.
type Damage struct {
	Page uint64 // its number; the heads are 0 and 1
	What string
}

// Error names the page and the fault.
func (d *Damage) Error() string { return fmt.Sprintf("page %d: %s", d.Page, d.What) }

// CutOff reports whether an error of Open says that the file ends before its second head.
func CutOff(err error) bool { return strings.Contains(err.Error(), "file size too small") } // no sentinel

// Locked reports whether an error of Open says that another process holds the file.
func Locked(err error) bool { return errors.Is(err, bolterrors.ErrTimeout) }

// Foreign reports whether an error of Open says that the file is not a database.
func Foreign(err error) bool {
	return errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) ||
		errors.Is(err, bolterrors.ErrVersionMismatch)
}

// Explain names the file in an error of Open and wraps ErrCorrupt or ErrLocked if that is the
// cause. noun is the kind of file; held is the advice after "PATH is in use by another process".
func Explain(path, noun, held string, err error) error {
	switch {
	case CutOff(err):
		return fmt.Errorf("%s: %w: cut off: %w", path, ErrCorrupt, err)
	case errors.As(err, new(*Damage)):
		return fmt.Errorf("%s: %w: %w", path, ErrCorrupt, err)
	case Locked(err):
		return fmt.Errorf("%s is %w%s", path, ErrLocked, held)
	case Foreign(err):
		return fmt.Errorf("%s: %w: not a %s: %w", path, ErrCorrupt, noun, err)
	case errors.Is(err, ErrCorrupt):
		return err // from CatchCorrupt, which names the file
	}
	return fmt.Errorf("open %s: %w", noun, err)
}
