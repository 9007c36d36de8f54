package rest

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// waiter is a request that waits for points.
type waiter struct {
	weightKey
	lane   Lane
	weight int
	ready  chan struct{} // closed when ticket or err is set
	ticket *ticket
	err    error // instead of ticket
}

// dispatch grants requests, the most urgent first: while one waits, all less urgent ones wait too.
// Then it sets the timer for the next one.
func (l *WeightBudget) dispatch(a *allowance) {
	now := l.config.Now()
	a.roll(now)
	l.endBan(a, now)
	for lane := LastCancel; lane <= MarketData; lane++ {
		for len(a.queue[lane]) > 0 {
			w := a.queue[lane][0]
			w.err = a.checkRoom(lane, w.weight)
			if ok, _ := a.ready(lane, w.weight, now); !ok && w.err == nil {
				l.warnSlow(a, lane, now)
				l.setTimer(now)
				return
			}
			a.queue[lane] = a.queue[lane][1:]
			a.grant(w)
		}
	}
	l.setTimer(now)
}

// checkRoom returns an error where a whole minute has not enough points for a request; waiting for
// them would block all others.
func (a *allowance) checkRoom(lane Lane, weight int) error {
	if room := a.limit - a.floor(lane); weight > room {
		return fmt.Errorf("a request of weight %d for %s: at most %d of the %d points of a minute may go there", weight,
			lane, room, a.limit)
	}
	return nil
}

func (a *allowance) grant(w *waiter) {
	if w.err != nil {
		close(w.ready)
		return
	}
	a.sent++
	w.ticket = &ticket{allowance: a, weightKey: w.weightKey, weight: w.weight,
		alone: a.open+a.strayTotal+a.unseenTotal == 0, sent: a.sent, used: a.used, countedReset: a.countedReset}
	a.open += w.weight
	close(w.ready)
}

// first is the next request; nil: none waits.
func (a *allowance) first() *waiter {
	for _, lane := range a.queue {
		if len(lane) > 0 {
			return lane[0]
		}
	}
	return nil
}

// withdraw removes a request whose caller has given up. If it was granted meanwhile, its points are
// given back.
func (l *WeightBudget) withdraw(a *allowance, w *waiter) {
	l.mu.Lock()
	defer l.unlock()
	switch {
	case w.ticket != nil:
		a.open -= w.weight
	case w.err == nil:
		queue := a.queue[w.lane]
		at := slices.Index(queue, w)
		a.queue[w.lane] = slices.Delete(queue, at, at+1)
	}
	l.dispatch(a)
}

// setTimer sets the timer to the first moment at which a waiting request may go without a further
// answer.
func (l *WeightBudget) setTimer(now market.Time) {
	alarm := market.Time(0)
	for _, a := range [...]*allowance{&l.key, &l.ip} {
		w := a.first()
		if w == nil {
			continue
		}
		a.roll(now)
		again := now
		if ok, later := a.ready(w.lane, w.weight, now); !ok {
			again = later
		}
		if alarm == 0 || again < alarm {
			alarm = again
		}
	}
	if alarm == l.timerAt {
		return
	}
	if l.stopTimer != nil {
		l.stopTimer()
	}
	if l.timerAt, l.stopTimer = alarm, nil; alarm != 0 {
		l.stopTimer = l.config.After(max(time.Millisecond, alarm.Sub(now)), l.onTimer)
	}
}

// onTimer is called by the timer.
func (l *WeightBudget) onTimer() {
	l.mu.Lock()
	defer l.unlock()
	l.timerAt, l.stopTimer = 0, nil
	l.dispatch(&l.key)
	l.dispatch(&l.ip)
}
