package signals

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// leastStep is the shortest candle whose starts are no coincidence.
const leastStep = market.Interval5m

// know decides from when on rows are known that have no known_at: at their times, or at the ends of
// the candles that begin then. Times that may be either are refused.
func (r *reader) know() error {
	var times []market.Time
	for i := range r.file.Rows {
		if r.assumed[i] && !r.days[i] {
			times = append(times, r.file.Rows[i].Time)
		}
	}
	o := &r.options
	r.file.Stamp = "known_at"
	if slices.Contains(r.assumed, true) {
		r.file.Stamp = "their times"
	}
	if slices.Contains(r.days, true) {
		r.file.Stamp = "the end of their day"
	}
	on := startsOf(times)
	asked := on != 0 && (on >= leastStep || o.Interval != 0 && on >= o.Interval)
	switch o.Stamped {
	case "":
		if asked {
			return fmt.Errorf("all %d times are starts of %s candles, and a number made of a candle is known at its "+
				"end only: say stamped = %q where the times are the starts of the candles that the rows were made of, "+
				"or stamped = %q where a row was known at its time", len(times), on, StampedOpen, StampedClose)
		}
	case StampedOpen:
		length := o.candle(times)
		if length == 0 {
			return noLength()
		}
		r.file.Stamp = fmt.Sprintf("the end of the %s from their time", length)
		for i := range r.file.Rows {
			if r.assumed[i] && !r.days[i] {
				r.file.Rows[i].Known = r.file.Rows[i].Known.Add(length)
			}
		}
	}
	if o.MaxAge > 0 {
		for i := range r.file.Rows {
			r.file.Rows[i].Until = r.file.Rows[i].Known.Add(o.MaxAge)
		}
	}
	return nil
}

// candle is the length of the candles that rows with some times were made of; 0: it is not known.
func (o *Options) candle(times []market.Time) market.Duration {
	if o.Every != 0 {
		return o.Every
	}
	return max(o.Interval.Fixed(), regular(times))
}

func noLength() error {
	return fmt.Errorf("stamped = %q needs the length of the candles that the rows were made of: set every, like \"1h\"",
		StampedOpen)
}

// startsOf is the longest interval, up to a day, on whose starts all times lie; 0: none.
func startsOf(times []market.Time) (on market.Interval) {
	for i := market.Interval1m; i <= market.Interval1d && len(times) > 0; i++ {
		if i.Fixed() != 0 && !slices.ContainsFunc(times, func(t market.Time) bool { return !i.Aligned(t) }) {
			on = i
		}
	}
	return on
}

// regular is the distance of the times where nearly all have the same; 0: they have not.
func regular(times []market.Time) market.Duration {
	sorted := slices.Compact(slices.Sorted(slices.Values(times)))
	if len(sorted) < 3 {
		return 0
	}
	var steps []market.Duration
	for i := 1; i < len(sorted); i++ {
		steps = append(steps, sorted[i].Sub(sorted[i-1]))
	}
	least, same := slices.Min(steps), 0
	for _, step := range steps {
		if step == least {
			same++
		}
	}
	if same*10 < len(steps)*9 {
		return 0
	}
	return least
}
