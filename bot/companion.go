package bot

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/rs/zerolog"
)

// companion is a service that runs beside a bot in its process, such as the dashboard. It speaks to
// the bot over its socket alone, so it can neither hold the loop nor change what the bot holds.
type companion struct {
	name string
	run  func(context.Context) error // until ctx ends
}

// longestPause is the longest time before a companion that has failed starts again.
const longestPause = time.Minute

// accompany runs companions until ctx ends. A companion that fails or panics is logged and starts
// again after a pause: the bot trades on. Call wait after the end of ctx.
func accompany(ctx context.Context, log zerolog.Logger, companions []companion) (wait func()) {
	var all sync.WaitGroup
	for _, c := range companions {
		all.Go(func() { c.keep(ctx, log) })
	}
	return all.Wait
}

// keep runs a companion until ctx ends.
func (c *companion) keep(ctx context.Context, log zerolog.Logger) {
	pauses := backoff.NewExponentialBackOff()
	pauses.MaxInterval = longestPause
	_, _ = backoff.Retry(ctx, func() (struct{}, error) { // its error is that of ctx
		err := c.try(ctx)
		if err == nil || ctx.Err() != nil {
			return struct{}{}, nil
		}
		log.Error().Err(err).Str("companion", c.name).Msg("the " + c.name + " has failed; the bot trades on")
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0))
}

// try runs a companion once. A panic of it is an error.
func (c *companion) try(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.run(ctx)
}
