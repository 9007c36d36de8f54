package rest

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
)

// codeNoWithdrawRight says that the key lacks the right to withdraw (venue-facts 1.1).
const codeNoWithdrawRight = 312

// MayWithdraw reports whether the key may withdraw: POST /withdrawal without any parameter. It
// cannot withdraw anything, for it names no asset, no amount and no address: an exchange refuses it
// for the missing right, which is false, or for a missing parameter, which is true. An exchange
// that checks parameters before rights makes it true for every key. Other answers are errors. It is
// sent once.
func (c *Client) MayWithdraw(ctx context.Context) (bool, error) {
	err := c.write(ctx, request{at: postWithdrawal, path: version + "/withdrawal", body: []byte("{}")},
		func([]byte) error {
			return fmt.Errorf("a withdrawal of nothing was accepted: %w", ErrMismatch)
		})
	var refused *exchange.Error
	if !errors.As(err, &refused) {
		return false, err
	}
	switch refused.Code {
	case codeNoWithdrawRight:
		return false, nil
	case exchange.CodeRequired, exchange.CodeInvalid:
		return true, nil
	}
	return false, err
}
