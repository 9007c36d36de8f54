package runner

import (
	"context"
	"errors"
	"time"

	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// The exchange's clock is measured again every plan.ClockEvery, after clockSoon where the last
// measurement was poor. A machine's clock that nothing sets is off by seconds within a day.
const (
	clockSoon  = 30 * time.Second
	poorTrip   = time.Second
	clockOff   = time.Second
	sleptEvery = 2 * time.Second // between two checks whether the machine has slept
)

// keepTime measures the exchange's clock again and again until ctx ends, and at once after the
// machine has slept: its uptime, which carries that clock on, stood still meanwhile.
func (r *runner) keepTime(ctx context.Context) {
	began, measured := time.Now(), time.Now()
	behind := r.slept(began)
	for ctx.Err() == nil {
		select {
		case <-time.After(sleptEvery):
		case <-ctx.Done():
			return
		}
		now, wait := r.slept(began), plan.ClockEvery
		if r.client.RoundTrip() > poorTrip {
			wait = clockSoon
		}
		if (now-behind).Abs() < clockOff && time.Since(measured) < wait {
			continue
		}
		measured = time.Now()
		switch moved, err := r.client.Remeasure(ctx); {
		case errors.Is(err, rest.ErrFalseTime):
			r.log.Warn().Err(err).Msg(
				"the exchange's time cannot be true: the bot goes on by what it knew of that clock")
			continue
		case err != nil: // a machine that has slept may not have its network yet
			r.log.Debug().Err(err).Msg("the exchange's clock could not be measured again")
			continue
		case moved.Abs() >= clockOff:
			r.log.Warn().Stringer("by", moved).
				Msg("the exchange's clock was not where it had been reckoned to be; now it is")
		}
		behind = now
	}
}

// slept is how far the machine's clock has run ahead of its uptime since a time, because it slept
// or was set.
func (r *runner) slept(since time.Time) market.Duration {
	if r.Options.slept != nil {
		return r.Options.slept()
	}
	now := time.Now()
	return now.Round(0).Sub(since.Round(0)) - now.Sub(since)
}
