package door

import "time"

// The bounds of what a source may send over HTTP.
const (
	maxBurst  = 20
	perMinute = 60
)

// rate says when a source has sent too much.
type rate struct {
	until time.Time // so much time is used up, each request taking its share of a minute
}

// take counts a request; wait is the time until one is free, 0 where it may pass.
func (r *rate) take(now time.Time) (wait time.Duration) {
	const each = time.Minute / perMinute
	if r.until.Before(now) {
		r.until = now
	}
	if wait = r.until.Sub(now) - (maxBurst-1)*each; wait > 0 {
		return wait
	}
	r.until = r.until.Add(each)
	return 0
}
