package live

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
)

// RetryUntilReached calls try until the exchange answers, with growing waits that it logs, and
// returns nil or the exchange's refusal, which it would repeat. A ban is no refusal: it ends. Nor
// is the answer to a request that came too late (code 304). It returns early when ctx ends.
func RetryUntilReached(ctx context.Context, log zerolog.Logger, try func() error) error {
	for wait := firstWait; ; wait = min(2*wait, lastWait/2) {
		err := try()
		if err == nil || ctx.Err() != nil || refuses(err) {
			return err
		}
		text := "the exchange cannot be reached"
		if errors.Is(err, exchange.ErrFalse) {
			text = "the exchange's answer is of no use"
		}
		log.Warn().Err(err).Stringer("again_in", wait).Msg(text)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// refuses reports whether the exchange has refused, and would refuse again.
func refuses(err error) bool {
	var no *exchange.Error
	return as(err, &no) && no.Outcome() == exchange.Rejected && no.Code != exchange.CodeBanned &&
		no.Code != exchange.CodeOutOfWindow && no.Status != http.StatusTooManyRequests
}
