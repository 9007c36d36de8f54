package engine

import "github.com/tidemark-trading/tidemark/market"

// history is the part of the candles before trading that a strategy sees: as much as its own
// warm-up needs, whatever other strategies need.
type history struct {
	from     []market.Time // by market and interval: candles that start earlier are hidden; nil: none are
	starts   market.Time   // of the first candle that it sees, or of trading
	starting bool          // OnStart is still to be called, at starts
}

// SeeFrom hides the candles of a series that start before a time from a strategy: they are of a
// longer warm-up of another one. Call it before Start, Restore or Prepare. OnStart is called at the
// earliest of a strategy's times.
func (e *Engine) SeeFrom(id market.StrategyID, m market.ID, interval market.Interval, at market.Time) {
	e.slots[id-1].seeFrom(len(e.catalog.Markets()), m, interval, at, at)
}

// seeFrom hides the candles of a series that start before from. The series begins at starts.
func (s *slot) seeFrom(markets int, m market.ID, interval market.Interval, from, starts market.Time) {
	if s.from == nil {
		s.from, s.starts = make([]market.Time, (markets+1)*market.IntervalSlots), starts
	}
	s.from[int(m)*market.IntervalSlots+int(interval)] = from
	s.starts = min(s.starts, starts)
}

// See shows each strategy, of the history before the time at, the latest candles of each of its
// series, as many as its warm-up needs. Call it before Start, Restore or Prepare.
func (e *Engine) See(history []market.Candle, at market.Time) {
	if len(history) == 0 || len(e.slots) == 1 {
		return
	}
	for i := range e.slots {
		s := &e.slots[i]
		for _, m := range s.Markets {
			for place, interval := range s.Intervals {
				from, any := latest(history, m, interval, s.warmupOf(place))
				starts := at
				if any {
					starts = from
				}
				s.seeFrom(len(e.catalog.Markets()), m, interval, from, starts)
			}
		}
	}
}

// warmupOf is the number of candles of an interval, by its place, in the strategy's warm-up.
func (s *slot) warmupOf(place int) int {
	if place < len(s.Warmup) {
		return s.Warmup[place]
	}
	return 0
}

// latest is the start of the first of the latest n candles of a series; where there are none, it is
// the end of the series.
func latest(history []market.Candle, m market.ID, interval market.Interval, n int) (from market.Time, any bool) {
	for i := len(history) - 1; i >= 0; i-- {
		c := &history[i]
		switch {
		case c.Market != m || c.Interval != interval:
		case n == 0:
			return max(from, c.End()), any
		default:
			from, any, n = c.Start, true, n-1
		}
	}
	return from, any
}

// hides reports whether a candle lies before a strategy's history.
func (s *slot) hides(c *market.Candle) bool {
	return s.from != nil && c.Start < s.from[int(c.Market)*market.IntervalSlots+int(c.Interval)]
}

// awaitStarts notes the strategies whose history begins after a time.
func (e *Engine) awaitStarts(at market.Time) {
	for i := range e.slots {
		if s := &e.slots[i]; s.from != nil && s.starts > at {
			s.starting = true
			e.starting++
		}
	}
}

// startDue calls OnStart of the strategies whose history begins up to the engine's time. was is the
// time of the event before.
//
//go:noinline
func (e *Engine) startDue(was market.Time) {
	at := e.now
	for i := range e.slots {
		if s := &e.slots[i]; s.starting && s.starts <= at {
			s.starting = false
			e.starting--
			e.now = max(was, s.starts)
			e.guard(s, CallStart)
		}
	}
	e.now = at
}

// StartRest calls OnStart of the strategies that have no candles of a history, at the end of the
// others' history.
func (e *Engine) StartRest(at market.Time) {
	if e.starting > 0 {
		was := e.now
		e.begin(max(at, was))
		e.startDue(was)
	}
}

// nextStart is the time of the next OnStart.
func (e *Engine) nextStart() (at market.Time, any bool) {
	for i := range e.slots {
		if s := &e.slots[i]; s.starting && (!any || s.starts < at) {
			at, any = s.starts, true
		}
	}
	return at, any
}
