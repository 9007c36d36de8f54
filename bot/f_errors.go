package bot

import (
	"errors"

	"github.com/tidemark-trading/tidemark/state"
)

// stateError is an error about the state file; what to do about a damaged one is not what helps a candle store.
type stateError struct{ error }

// Unwrap returns the error itself.
func (e stateError) Unwrap() error { return e.error }

// Error adds what helps.
func (e stateError) Error() string {
	if errors.Is(e.error, state.ErrCorrupt) {
		return e.error.Error() + "; put a backup in its place, or move it away: a bot without it asks the exchange what is open, and takes that for foreign"
	}
	return e.error.Error()
}

// aboutState makes damage that shows while a bot starts, behind the opening of its state file, an error about that.
func aboutState(err error) error {
	if errors.Is(err, state.ErrCorrupt) && !errors.As(err, new(stateError)) {
		return stateError{err}
	}
	return err
}
