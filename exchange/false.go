package exchange

import (
	"errors"

	"github.com/tidemark-trading/tidemark/market"
)

// ErrFalse is wrapped by the error of a complete answer that cannot be true: another order than the
// one asked for, a negative amount, an asset that does not exist. Treat it as no answer.
var ErrFalse = errors.New("exchange: the answer cannot be true")

// falseAnswer is an error that is ErrFalse too.
type falseAnswer struct{ error }

// Is makes errors.Is find ErrFalse.
func (falseAnswer) Is(target error) bool { return target == ErrFalse }

// Unwrap returns the error itself.
func (f falseAnswer) Unwrap() error { return f.error }

// False marks an error as ErrFalse, except market.ErrInexact: then our own units are too coarse for
// the answer.
func False(err error) error {
	if errors.Is(err, market.ErrInexact) {
		return err
	}
	return falseAnswer{err}
}
