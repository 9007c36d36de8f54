package engine

import "github.com/tidemark-trading/tidemark/market"

// Tick is a ticker and its arrival.
type Tick struct {
	At     market.Time
	Ticker market.Ticker
}

// StepTickers steps tickers in a row, exactly as one Step for each would, but that a ticker which
// would go back in time arrives now. It stops after the first that led to a command. It returns the
// number of tickers stepped and the commands of the last. 0 means that StepTickers cannot step
// here: call Step.
func (e *Engine) StepTickers(ticks []Tick) (stepped int, commands []market.Command) {
	e.out = e.out[:0]
	e.setOwner()
	if e.apart != nil || e.trespassed.Load() || e.observed || e.brackets.Busy() ||
		e.tactics.Len() > 0 || e.err != nil {
		return 0, nil
	}
	e.row.stepped, e.at = 0, 0
	for !e.tickerLoop(ticks) {
	}
	if e.brackets.Busy() {
		e.brackets.Retry()
		e.notifySent()
	} else if len(e.sent) > 0 {
		e.notifySent()
	}
	return e.row.stepped, e.out
}

// tickerLoop is the loop of StepTickers. false: a strategy panicked, and the rest is still to be
// called.
func (e *Engine) tickerLoop(ticks []Tick) (done bool) {
	defer e.catch()
	at, resumed := e.row.stepped, e.at > 0
	for going := true; going && at < len(ticks); at++ {
		t := &ticks[at]
		if !resumed {
			e.now = max(e.now, t.At)
			e.account.Quote(&t.Ticker, e.now)
		}
		e.callOnTicker(&t.Ticker)
		e.row.stepped, e.at, resumed = at+1, 0, false
		going = len(e.out)+len(e.sent) == 0 && !e.brackets.Busy() && !e.trespassed.Load()
	}
	e.leave()
	return true
}

// deliverTicker calls the strategies for a ticker. It returns false when a strategy panicked and
// the rest is still to be called.
func (e *Engine) deliverTicker(t *market.Ticker) (done bool) {
	defer e.catch()
	e.callOnTicker(t)
	e.leave()
	return true
}

// callOnTicker calls the strategies from e.at on for a ticker, in order.
func (e *Engine) callOnTicker(t *market.Ticker) {
	receivers := e.subs.tickers[t.Market]
	for place := e.at; place < len(receivers); place++ {
		s := receivers[place]
		e.at = place + 1
		if s.wait.Going() && !s.past.Starting() {
			s.wait.Release(e.now)
		}
		switch {
		case s.halted, s.past.Starting():
		case e.apart != nil:
			e.args.ticker = t
			e.guard(s, CallTicker)
		default:
			e.beginCall(s, CallTicker)
			s.called = true
			s.Strategy.OnTicker(s.desk, *t)
			e.after(s)
		}
	}
}
