package rest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// TimeSamples is how often Sync asks for the time; the answer with the shortest round trip counts.
const TimeSamples = 5

// maxRoundTrip is the longest usable round trip of a time measurement, which may be wrong by half
// of it. The deadlines of lost requests allow for as much.
const maxRoundTrip = 4 * time.Second

// clock is the exchange's clock: an instant of this machine and the exchange's time then. It goes
// on by the machine's monotonic clock, so setting the machine's time does not move it.
type clock struct {
	now       func() time.Time
	anchor    atomic.Pointer[anchor]
	measuring chan struct{} // holds one token while a measurement runs
}

type anchor struct {
	local     time.Time
	server    market.Time
	roundTrip market.Duration // 0: not measured
}

// start uses the machine's clock until the first measurement.
func (k *clock) start(now func() time.Time) {
	k.now, k.measuring = now, make(chan struct{}, 1)
	local := now()
	k.anchor.Store(&anchor{local: local, server: market.Time(local.UnixNano())})
}

// Now returns the exchange's time by the last Sync; before the first, the machine's own.
func (c *Client) Now() market.Time {
	a := c.clock.anchor.Load()
	return a.server.Add(c.clock.now().Sub(a.local))
}

// Offset returns how far the exchange's clock was ahead of the machine's at the last Sync, 0 before
// the first.
func (c *Client) Offset() market.Duration {
	a := c.clock.anchor.Load()
	return a.server.Sub(market.Time(a.local.UnixNano()))
}

// RoundTrip returns the round trip of the measurement behind Offset, which is right within half of
// it. 0: there was none.
func (c *Client) RoundTrip() market.Duration { return c.clock.anchor.Load().roundTrip }

// Sync measures the exchange's clock by GET /time (specification 1): several times, of which the
// shortest round trip counts. It returns an error, and keeps the last measurement, where no answer
// came within four seconds.
func (c *Client) Sync(ctx context.Context) error {
	if err := c.clock.lock(ctx); err != nil {
		return err
	}
	defer c.clock.unlock()
	return c.measure(ctx)
}

// Remeasure is Sync, and returns by how much Now moved: the error of this machine's clock since the
// last measurement.
func (c *Client) Remeasure(ctx context.Context) (moved market.Duration, err error) {
	if err := c.clock.lock(ctx); err != nil {
		return 0, err
	}
	defer c.clock.unlock()
	before := c.clock.anchor.Load()
	if err := c.measure(ctx); err != nil {
		return 0, err
	}
	now := c.clock.anchor.Load()
	return now.server.Sub(before.server.Add(now.local.Sub(before.local))), nil
}

// lock waits for other measurements to end.
func (k *clock) lock(ctx context.Context) error {
	select {
	case k.measuring <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *clock) unlock() { <-k.measuring }

// resync measures again, unless the clock was measured since it showed seen.
func (c *Client) resync(ctx context.Context, seen *anchor) error {
	if err := c.clock.lock(ctx); err != nil {
		return err
	}
	defer c.clock.unlock()
	if c.clock.anchor.Load() != seen {
		return nil
	}
	return c.measure(ctx)
}

func (c *Client) measure(ctx context.Context) error {
	var best *anchor
	sample := func() error {
		found := &anchor{local: c.clock.now()}
		var date time.Time
		err := c.attempt(ctx, request{at: getTime, path: version + "/time", date: &date},
			func(body []byte) (err error) {
				found.roundTrip = max(1, c.clock.now().Sub(found.local))
				found.server, err = parseTime(body)
				return err
			})
		if err != nil {
			return err
		}
		found.local = found.local.Add(found.roundTrip / 2)
		if err := c.clock.check(found, date); err != nil {
			return err
		}
		if best == nil || found.roundTrip < best.roundTrip {
			best = found
		}
		return nil
	}
	if err := c.retry(ctx, sample); err != nil {
		return fmt.Errorf("the exchange's time: %w", err)
	}
	for failed, n := 0, 1; n < TimeSamples && failed < 2; n++ {
		if sample() != nil {
			failed++ // after two failures, use the best sample so far
		}
	}
	if best.roundTrip > maxRoundTrip {
		return fmt.Errorf("the exchange's time: the fastest answer took %s; it cannot be told closer than within half "+
			"of that", best.roundTrip.Round(time.Millisecond))
	}
	c.clock.anchor.Store(best)
	return nil
}

// The bounds of a believable time.
const (
	maxClockError = time.Hour   // a time further from the expected one needs confirmation
	maxDateError  = time.Minute // by which the header Date may differ
)

// check returns an error where a measured time cannot be true; date is the answer's header Date,
// zero where it had none. A time far from the expected one needs confirmation: by the header, or by
// the machine's own clock after a sleep, in which its uptime stood still. Neither can confirm that
// the exchange's clock, once measured, went back by hours.
func (k *clock) check(found *anchor, date time.Time) error {
	known := k.anchor.Load()
	expected := known.server.Add(found.local.Sub(known.local))
	away := found.server.Sub(expected)
	byDate := !date.IsZero() && found.server.Sub(market.Time(date.UnixNano())).Abs() <= maxDateError
	byWall := found.server.Sub(known.server.Add(found.local.Round(0).Sub(known.local.Round(0)))).Abs() <= maxClockError
	if away.Abs() <= maxClockError || byWall || byDate && (away > 0 || known.roundTrip == 0) {
		return nil
	}
	header := "no Date"
	if !date.IsZero() {
		header = "the Date " + date.UTC().Format(time.DateTime)
	}
	return fmt.Errorf("GET /time says %s, its answer has %s, by this machine it is %s: %w; is this machine's clock "+
		"right?", found.server.Std().Format(time.DateTime), header, expected.Std().Format(time.DateTime), ErrFalseTime)
}

// Time returns the exchange's time: GET /time (specification 1). Requests are signed with Now
// instead.
func (c *Client) Time(ctx context.Context) (market.Time, error) {
	return ask(ctx, c, request{at: getTime, path: version + "/time"}, parseTime)
}

// parseTime returns timeNs, otherwise the middle of the millisecond of time.
func parseTime(body []byte) (market.Time, error) {
	var millis, nanos int64
	s := wire.NewScanner(body)
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "time":
			millis = s.Integer("time")
		case "timeNs":
			nanos = s.Integer("timeNs")
		default:
			s.Discard()
		}
	}
	switch err := s.End(); {
	case err != nil:
		return 0, err
	case nanos > 0:
		return market.Time(nanos), nil
	case millis > 0:
		t, err := market.TimeOfMillis(millis)
		return t.Add(time.Millisecond / 2), err
	}
	return 0, fmt.Errorf("neither time nor timeNs: %w", wire.ErrMalformed)
}

// outOfWindow reports whether the exchange refused a request because of its timestamp.
func outOfWindow(err error) bool {
	if err == nil {
		return false
	}
	var refused *exchange.Error
	return errors.As(err, &refused) && refused.Code == exchange.CodeOutOfWindow
}
