package live

import (
	"context"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
)

// Insist tries until the exchange can be reached, with growing waits of which the log tells, and
// returns what it said: nil, or a no that it would repeat. A ban is no no: it ends. It returns
// early when ctx does.
func Insist(ctx context.Context, log zerolog.Logger, try func() error) error {
	for wait := firstWait; ; wait = min(2*wait, lastWait/2) {
		err := try()
		if err == nil || ctx.Err() != nil || refuses(err) {
			return err
		}
		log.Warn().Err(err).Stringer("again_in", wait).Msg("the exchange cannot be reached")
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// refuses reports whether the exchange has said no, and would say so again.
func refuses(err error) bool {
	var no *exchange.Error
	return as(err, &no) && no.Outcome() == exchange.Rejected && no.Code != exchange.CodeBanned &&
		no.Status != http.StatusTooManyRequests
}
