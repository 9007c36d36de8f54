package sandbox

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// Clock is the exchange's time. It is safe for concurrent use and never goes back: where the
// machine's clock is set back, it stands until that has caught up. It follows the machine's wall
// clock, not its uptime, so that it is right again after a machine has slept.
type Clock struct {
	now func() time.Time

	mu     sync.Mutex // guards everything below
	base   market.Time
	since  int64         // ns of the machine's clock at which the time was base
	speed  float64       // seconds of the exchange to a second of the machine
	latest market.Time   // latest time that was returned
	moved  chan struct{} // closed when the clock is moved or its speed changed; nil: no request waits
}

// FastestClock is the highest speed that POST /admin/clock and a config of bot exchange give a
// clock: a made-up market moves once a second, and every movement is worked out.
const FastestClock = 10_000

// NewClock returns a clock that stands at start, 0 for the machine's time, and runs speed times as
// fast as the machine's: 0 is a clock that stands until it is moved. A speed that is negative or no
// number is taken as 0.
func NewClock(start market.Time, speed float64) *Clock { return newClock(time.Now, start, speed) }

// ManualClock returns a clock that stands at start and goes only by Advance and Set.
func ManualClock(start market.Time) *Clock {
	return &Clock{now: time.Now, base: start, latest: start}
}

func newClock(now func() time.Time, start market.Time, speed float64) *Clock {
	c := &Clock{now: now, base: start, since: now().UnixNano()}
	if start == 0 {
		c.base = market.Time(c.since)
	}
	if speed > 0 && !math.IsInf(speed, 1) {
		c.speed = speed
	}
	c.latest = c.base
	return c
}

// Now returns the time. It never goes back from one call to the next.
func (c *Clock) Now() market.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

// read is Now; the caller holds the mutex.
func (c *Clock) read() market.Time {
	if c.speed != 0 {
		c.latest = max(c.latest, later(c.base, c.elapsed()))
	}
	return c.latest
}

// elapsed is how far the clock has run since base. The machine's own speed is taken without
// rounding.
func (c *Clock) elapsed() market.Duration {
	passed := max(0, c.now().UnixNano()-c.since)
	if c.speed == 1 {
		return market.Duration(passed)
	}
	scaled := float64(passed) * c.speed
	if scaled >= math.MaxInt64 {
		return math.MaxInt64
	}
	return market.Duration(scaled)
}

// later is t+d, or the last moment before never.
func later(t market.Time, d market.Duration) market.Time {
	if t > 0 && market.Time(d) >= never-t {
		return never - 1
	}
	return t.Add(d)
}

// Advance moves the clock forward; a negative d does not move it.
func (c *Clock) Advance(d market.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.rebase(later(c.read(), d))
	}
}

// Set moves the clock forward to t. It is an error to go back.
func (c *Clock) Set(t market.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.read(); t < now {
		return fmt.Errorf("clock: %s lies before the exchange's time, %s; it never goes back", t, now)
	}
	c.rebase(t)
	return nil
}

// Speed returns how many times as fast as the machine's clock this one runs; 0: it stands.
func (c *Clock) Speed() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.speed
}

// SetSpeed lets the clock run speed times as fast as the machine's from now on; 0 stops it.
func (c *Clock) SetSpeed(speed float64) error {
	if !(speed >= 0) || math.IsInf(speed, 1) {
		return fmt.Errorf("clock: speed %g is no speed; want 0 to stand, 1 for the machine's, or another positive "+
			"number", speed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rebase(c.read())
	c.speed = speed
	return nil
}

// rebase lets the clock go on from t, and wakes all that wait.
func (c *Clock) rebase(t market.Time) {
	c.base, c.since, c.latest = t, c.now().UnixNano(), t
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// wait returns when the time is t, or when over is closed. A clock that stands has to be moved for
// that.
func (c *Clock) wait(t market.Time, over <-chan struct{}) {
	for {
		left, moved := c.left(t)
		if left <= 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-moved:
		case <-over:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// left returns the time to sleep until t, by the machine's clock, and a channel that is closed when
// that time changes.
func (c *Clock) left(t market.Time) (time.Duration, <-chan struct{}) {
	const longest = time.Hour // the machine's clock may be set meanwhile
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead := t.Sub(c.read())
	if ahead <= 0 {
		return 0, nil
	}
	if c.moved == nil {
		c.moved = make(chan struct{})
	}
	if scaled := float64(ahead) / c.speed; scaled < float64(longest) {
		return max(time.Duration(scaled), time.Microsecond), c.moved
	}
	return longest, c.moved
}
