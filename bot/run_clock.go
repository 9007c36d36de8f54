package bot

import (
	"context"
	"time"
)

// The exchange's clock is measured again every so often, sooner where the last measurement was a poor one. A machine's clock that nothing
// sets right is off by seconds within a day.
const (
	clockEvery = 5 * time.Minute
	clockSoon  = 30 * time.Second
	poorTrip   = time.Second
	clockOff   = time.Second
)

// keepTime measures the exchange's clock again and again until ctx ends.
func (r *runner) keepTime(ctx context.Context) {
	for {
		wait := clockEvery
		if r.client.RoundTrip() > poorTrip {
			wait = clockSoon
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		switch moved, err := r.client.Remeasure(ctx); {
		case err != nil:
			r.log.Debug().Err(err).Msg("the exchange's clock could not be measured again")
		case moved.Abs() >= clockOff:
			r.log.Warn().Stringer("by", moved).Msg("the exchange's clock was not where it had been reckoned to be; now it is")
		}
	}
}
