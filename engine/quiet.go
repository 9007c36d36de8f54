package engine

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// StepQuiet steps consecutive candles, each arriving delay after its close at Start+length, exactly
// as one Step for each would. It stops after the first candle that led to a command or set a timer,
// before the first that leaves the range (low, high), and before a timer is due. It returns the
// number of candles stepped and the commands of the last. 0 means that Coast cannot step here: call
// Step.
func (e *Engine) StepQuiet(series []market.Candle, length, delay market.Time, low, high market.Price) (stepped int,
	commands []market.Command) {
	e.out = e.out[:0]
	e.setOwner()
	if e.grouped || e.apart != nil || e.trespassed.Load() || e.observed ||
		e.brackets.Len()+e.rebalances+len(e.tactics)+e.starting > 0 ||
		e.err != nil {
		return 0, nil
	}
	e.stepped = 0
	series = series[:e.beforeTimers(series, length+delay)]
	// a strategy panicked: the other strategies still need the candle
	if len(series) > 0 && !e.quietLoop(series, length+delay, low, high) {
		c := &series[e.stepped]
		e.now = c.Start + length + delay
		e.account.Mark(c, e.now) // where Quiet panicked, this candle is not marked yet
		for !e.deliverCandles(series[e.stepped : e.stepped+1]) {
		}
		e.stepped++
	}
	for i := range e.slots {
		e.slots[i].called = true
	}
	if len(e.sent) > 0 || e.unheard {
		e.unheard = false
		e.notifySent()
	}
	return e.stepped, e.out
}

// beforeTimers counts the first candles that arrive, delay after their start, before any timer.
func (e *Engine) beforeTimers(series []market.Candle, delay market.Time) int {
	if len(series) == 0 || series[0].Start+delay < e.now {
		return 0
	}
	n := len(series)
	if len(e.timers) > 0 {
		for n > 0 && series[n-1].Start+delay >= e.timers[0].at {
			n--
		}
	}
	return n
}

// quietLoop is the loop of StepQuiet. false: a strategy panicked.
func (e *Engine) quietLoop(series []market.Candle, delay market.Time, low, high market.Price) (done bool) {
	defer e.catch()
	slots := e.receivers(&series[0])
	timers := len(e.timers)
	for e.stepped < len(series) && len(e.out) == 0 && len(e.timers) == timers && !e.unheard {
		if len(slots) == 1 {
			e.quiet(slots[0], series, delay, low, high)
		}
		if e.stepped == len(series) {
			break
		}
		c := &series[e.stepped]
		if c.Low <= low || c.High >= high {
			break
		}
		e.stepOne(slots, c, delay)
		e.stepped++
	}
	e.leave()
	return true
}

func (e *Engine) stepOne(slots []*slot, c *market.Candle, delay market.Time) {
	e.now, e.at = c.Start+delay, 0
	e.account.Mark(c, e.now)
	for place, s := range slots {
		if s.halted || s.hides(c) {
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

// quiet passes candles in the range (low, high), from e.stepped on, to the only receiver's Quiet
// until one needs OnCandle.
func (e *Engine) quiet(s *slot, series []market.Candle, delay market.Time, low, high market.Price) {
	if s.quieter == nil || s.halted || s.cold(series[e.stepped].Market) {
		return
	}
	e.at = 1
	e.enter(s, CallQuiet)
	quieter, from := s.quieter, e.stepped
	e.calls.quiet = true
	if s.crosser != nil {
		e.calls.at.set(int64(series[from].Start + delay))
		e.stepped += s.crosser.CrossOf(series[from].Market).QuietRow(series[from:], low, high)
	}
	for ; e.stepped < len(series) && s.crosser == nil; e.stepped++ {
		c := &series[e.stepped]
		if c.Low <= low || c.High >= high {
			break
		}
		e.calls.at.set(int64(c.Start + delay))
		if !quieter.Quiet(c.Market, strategy.Bar{High: c.High, Low: c.Low, Close: c.Close, Volume: c.Volume}) {
			break
		}
	}
	e.calls.quiet = false
	if e.stepped > from {
		last := &series[e.stepped-1]
		e.now = last.Start + delay
		e.account.Mark(last, e.now)
	}
}
