package engine

import "github.com/tidemark-trading/tidemark/market"

// Coast steps candles that come one at a time and in a row, each arriving delay after its close at
// Start+length, exactly as Step would one by one. It stops after the first that led to a command or
// set a timer, before the first that leaves the calm (low, high), and before a timer is due. It
// returns how many it stepped and the commands of the last. Where it cannot coast at all it returns
// 0: then Step is to be called.
func (e *Engine) Coast(series []market.Candle, length, delay market.Time, low, high market.Price) (stepped int,
	commands []market.Command) {
	e.out = e.out[:0]
	e.own()
	if e.apart != nil || e.trespassed.Load() || e.observed || e.brackets.Len() > 0 || e.err != nil {
		return 0, nil
	}
	e.coasted = 0
	series = series[:e.calm(series, length+delay, low, high)]
	// a strategy panicked: the others still have to see the candle
	if len(series) > 0 && !e.coast(series, length+delay) {
		c := &series[e.coasted]
		e.now = c.Start + length + delay
		e.account.Mark(c, e.now) // a Quiet that panicked had not come to this
		for !e.deliverCandles(series[e.coasted : e.coasted+1]) {
		}
		e.coasted++
	}
	for i := range e.seats {
		e.seats[i].called = true
	}
	if len(e.told) > 0 {
		e.tell()
	}
	return e.coasted, e.out
}

// calm counts the candles at the front that stay inside (low, high) and arrive, delay after their
// start, before any timer.
func (e *Engine) calm(series []market.Candle, delay market.Time, low, high market.Price) int {
	if len(series) == 0 || series[0].Start+delay < e.now {
		return 0
	}
	n := len(series)
	if len(e.timers) > 0 {
		for n > 0 && series[n-1].Start+delay >= e.timers[0].at {
			n--
		}
	}
	for i := range series[:n] {
		if c := &series[i]; c.Low <= low || c.High >= high {
			return i
		}
	}
	return n
}

// coast is the loop of Coast; it returns false when a strategy panicked.
func (e *Engine) coast(series []market.Candle, delay market.Time) (done bool) {
	defer e.catch()
	seats := e.receivers(&series[0])
	timers := len(e.timers)
	for e.coasted < len(series) && len(e.out) == 0 && len(e.timers) == timers {
		if len(seats) == 1 && e.quiet(seats[0], series, delay) && e.coasted == len(series) {
			break
		}
		e.stepOne(seats, &series[e.coasted], delay)
		e.coasted++
	}
	e.leave()
	return true
}

// stepOne is the step of one candle.
func (e *Engine) stepOne(seats []*seat, c *market.Candle, delay market.Time) {
	e.now, e.at = c.Start+delay, 0
	e.account.Mark(c, e.now)
	for place, s := range seats {
		if s.halted {
			continue
		}
		e.at = place + 1
		if s.warming {
			e.warm(s, c)
		}
		e.enter(s, CallCandle)
		s.Strategy.OnCandle(s.desk, *c)
		e.after(s)
	}
}

// quiet lets the only strategy of a series take in the candles from e.coasted on of which it has
// nothing to ask. It reports whether there was one.
func (e *Engine) quiet(s *seat, series []market.Candle, delay market.Time) bool {
	if s.quieter == nil || s.warming || s.halted {
		return false
	}
	e.at = 1
	e.enter(s, CallQuiet)
	quieter, from := s.quieter, e.coasted
	e.calls.quiet = true
	for i := from; i < len(series); i++ {
		e.calls.at.set(int64(series[i].Start + delay))
		if !quieter.Quiet(series[i]) {
			break
		}
		e.coasted = i + 1
	}
	e.calls.quiet = false
	if e.coasted == from {
		return false
	}
	last := &series[e.coasted-1]
	e.now = last.Start + delay
	e.account.Mark(last, e.now)
	return true
}
