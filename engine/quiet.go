package engine

import (
	"fmt"
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// row is the quiet candles of one market that StepQuiet steps. Engine and account learn of a candle
// where its strategy uses the desk, and at the end of the row.
type row struct {
	series  []market.Candle
	delay   market.Time // from a candle's start to its arrival
	stepped int         // the present candle
	known   int         // of series: of which clock, account and brackets know; noRow: there is no row
	quiet   Quiet
	ends    bool // a use of the desk has led to something: the next candle is not quiet
	event   market.Event
}

// noRow is a row's known outside of rows: a use of the desk has nothing to learn there.
const noRow = math.MaxInt

// Quiet says which candles are quiet: those in the range (Low, High).
type Quiet struct {
	Low, High market.Price
	Walked    bool // the first one is stepped wherever it is: the venue has walked it
}

// leaves reports whether a candle of the row is not quiet.
func (r *row) leaves(c *market.Candle) bool {
	return (c.Low <= r.quiet.Low || c.High >= r.quiet.High) && !(r.quiet.Walked && r.stepped == 0)
}

// StepQuiet steps consecutive candles, each arriving delay after its close at Start+length, exactly
// as one Step for each would. It stops after the first candle that led to a command or set a timer,
// before the first that is not quiet, and before a timer is due. It returns the
// number of candles stepped and the commands of the last. 0 means that no candle can be stepped
// here: call Step.
func (e *Engine) StepQuiet(series []market.Candle, length, delay market.Time, quiet Quiet) (stepped int,
	commands []market.Command) {
	e.out = e.out[:0]
	e.setOwner()
	if e.groups.Wanted() || e.apart != nil || e.observed || e.histories.Waiting() > 0 || !e.idle() {
		return 0, nil
	}
	r := &e.row
	r.series, r.delay = series[:e.beforeTimers(series, length+delay)], length+delay
	if len(r.series) == 0 {
		return 0, nil
	}
	r.stepped, r.known, r.ends, r.quiet = 0, 0, false, quiet
	if !e.stepRow() { // a strategy panicked: the other strategies still need the candle
		r.known = noRow
		for !e.deliverCandles(r.series[r.stepped : r.stepped+1]) {
		}
		r.stepped++
	}
	r.known = noRow
	for i := range e.slots {
		e.slots[i].called = true
	}
	if r.stepped > 0 && (e.tactics.Len()+len(e.sent) > 0 || e.brackets.Busy()) {
		r.event = market.Event{Kind: market.KindCandles, At: e.now, Candles: r.series[r.stepped-1 : r.stepped]}
		e.endStep(&r.event)
	}
	return r.stepped, e.out
}

// idle reports whether the engine waits for nothing that a quiet candle brings or a strategy is yet
// to be told of.
func (e *Engine) idle() bool {
	return e.rebalances.Len()+e.tactics.Len()+e.replaces.Len()+len(e.out)+len(e.sent) == 0 && e.brackets.Calm() &&
		e.err == nil && !e.trespassed.Load()
}

// beforeTimers counts the first candles that arrive, delay after their start, before any timer.
func (e *Engine) beforeTimers(series []market.Candle, delay market.Time) int {
	if len(series) == 0 || series[0].Start+delay < e.now {
		return 0
	}
	n := len(series)
	if due, waits := e.timers.Due(); waits {
		for n > 0 && series[n-1].Start+delay >= due {
			n--
		}
	}
	return n
}

// stepRow steps the quiet candles of the row. false: a strategy panicked.
func (e *Engine) stepRow() (done bool) {
	defer e.catch()
	r, slots := &e.row, e.receivers(&e.row.series[0])
	for r.stepped < len(r.series) && !r.ends {
		if len(slots) == 1 && !slots[0].wait.Going() && !slots[0].halted && !slots[0].past.Hides(&r.series[r.stepped]) {
			e.stepAlone(slots[0])
			break
		}
		if r.leaves(&r.series[r.stepped]) {
			break
		}
		e.stepOne(slots)
		r.stepped++
	}
	if r.stepped > 0 && r.known < r.stepped {
		e.learn(r.stepped)
	}
	e.leave()
	return true
}

// stepOne steps a candle that any number of strategies receive.
func (e *Engine) stepOne(slots []*strategyState) {
	r, c := &e.row, &e.row.series[e.row.stepped]
	timers := e.timers.Len()
	e.learn(r.stepped + 1)
	e.at = 0
	for place, s := range slots {
		if s.halted || s.past.Hides(c) {
			continue
		}
		e.at = place + 1
		if s.wait.Going() {
			s.wait.Count(c)
		}
		e.beginCall(s, CallCandle)
		s.Strategy.OnCandle(s.desk, *c)
		e.after(s)
		r.ends = r.ends || e.timers.Len() != timers || s.halted || !e.idle()
	}
}

// stepAlone steps quiet candles that one strategy receives.
func (e *Engine) stepAlone(s *strategyState) {
	r := &e.row
	e.at = 1
	e.beginCall(s, CallCandle)
	for more := true; more && r.stepped < len(r.series); {
		if s.skipper != nil && !(r.quiet.Walked && r.stepped == 0) {
			if e.skip(s); r.stepped == len(r.series) {
				return
			}
		}
		rest := r.series[r.stepped:]
		if s.skipper != nil {
			rest = rest[:1]
		}
		more = e.callRow(s, rest)
	}
}

// callRow calls OnCandle for candles from the present one on. false: the row ends.
func (e *Engine) callRow(s *strategyState, series []market.Candle) (more bool) {
	r, timers := &e.row, e.timers.Len()
	for i := range series {
		c := &series[i]
		if r.leaves(c) {
			return false
		}
		e.calls.at.set(int64(c.Start + r.delay))
		s.Strategy.OnCandle(s.desk, *c)
		if r.known <= r.stepped && !e.spoil {
			if !e.trespassed.Load() { // an if of its own is faster than one condition
				r.stepped++
				continue
			}
		}
		e.after(s)
		r.ends = e.timers.Len() != timers || s.halted || !e.idle()
		if r.stepped++; r.ends {
			return false
		}
	}
	return true
}

// skipSpan is how many candles at most are looked through for quiet ones before a Skip.
const skipSpan = 256

// skip passes quiet candles, from the present one on, to the only receiver's Skip.
func (e *Engine) skip(s *strategyState) {
	r, q := &e.row, e.row.quiet
	rest := r.series[r.stepped:]
	if q.Low >= 0 || q.High != math.MaxInt64 { // else each candle is quiet
		n := 0
		for n < min(len(rest), skipSpan) && rest[n].Low > q.Low && rest[n].High < q.High {
			n++
		}
		rest = rest[:n]
	}
	if len(rest) == 0 {
		return
	}
	e.calls.begin(s.id, CallSkip, rest[0].Start+r.delay) // Skip has no desk: the rest of beginCall holds
	e.calls.skips = true
	used := s.skipper.Skip(rest[:len(rest):len(rest)])
	if used < 0 || used > len(rest) {
		panic(fmt.Sprintf("Skip of strategy %s used %d of %d candles", s.Name, used, len(rest)))
	}
	r.stepped += used
	e.calls.begin(s.id, CallCandle, e.now)
}

// learn lets clock, account and brackets know of the first n candles of the row.
//
//go:noinline
func (e *Engine) learn(n int) {
	r := &e.row
	c := &r.series[n-1]
	e.now = c.Start + r.delay
	e.account.Mark(c, e.now)
	if e.brackets.Len() > 0 {
		e.brackets.Count(r.series[r.known:n])
	}
	r.known = n
}

// catchUp lets the engine know of the present candle of a row.
func (e *Engine) catchUp() {
	if e.row.known <= e.row.stepped {
		e.learn(e.row.stepped + 1)
	}
}
