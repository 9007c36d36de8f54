package folder

import (
	"errors"

	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// Error is an error about the state file; what to do about a damaged one is not what helps a candle
// store.
type Error struct{ Err error }

// Unwrap returns the error itself.
func (e Error) Unwrap() error { return e.Err }

// Error adds what helps.
func (e Error) Error() string {
	if errors.Is(e.Err, boltfile.ErrCorrupt) {
		return e.Err.Error() + "; put a backup in its place, or move it away: a bot without it asks the exchange what " +
			"is open, and takes that for foreign"
	}
	return e.Err.Error()
}

// Wrap makes damage that shows while a bot starts, behind the opening of its state file, an error
// about that.
func Wrap(err error) error {
	if errors.Is(err, boltfile.ErrCorrupt) && !errors.As(err, new(Error)) {
		return Error{Err: err}
	}
	return err
}
