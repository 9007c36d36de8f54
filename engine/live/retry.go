package live

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
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

// retry is when something is tried again, at growing intervals.
type retry struct {
	next market.Time
	wait market.Duration
}

// later sets the next time: soon at first, or where nothing is left to try. After a try it is twice
// as long, a minute at most.
func (r *retry) later(now market.Time, left, tried bool) {
	if !left || r.wait == 0 {
		r.wait = firstWait
	} else if tried {
		r.wait = min(2*r.wait, market.Duration(time.Minute))
	}
	r.next = now.Add(r.wait)
}
