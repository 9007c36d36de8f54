package statedir

import (
	"errors"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Error is an error about the state file. If the file is damaged, its text carries a hint.
type Error struct{ Err error }

// Unwrap returns the error itself.
func (e Error) Unwrap() error { return e.Err }

// Error returns the text with the hint.
func (e Error) Error() string {
	if errors.Is(e.Err, bolt.ErrCorrupt) {
		return e.Err.Error() + "; put a backup in its place, or move it away: a bot without it asks the exchange " +
			"what is open, and takes that for foreign"
	}
	return e.Err.Error()
}

// Wrap makes an error about damage an Error: also damage that shows only after the state file is
// open. Any other error stays as it is.
func Wrap(err error) error {
	if errors.Is(err, bolt.ErrCorrupt) && !errors.As(err, new(Error)) {
		return Error{Err: err}
	}
	return err
}
