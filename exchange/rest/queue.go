package rest

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// waiter is a request that waits for its points.
type waiter struct {
	priced
	lane   Lane
	weight int
	ready  chan struct{} // closed when ticket or err is set
	ticket *ticket
	err    error // instead of ticket
}

// dispatch lets go who may, the most urgent first: while one waits, nobody behind it goes. Then it
// sets the timer for whoever is left.
func (l *Ledger) dispatch(a *allowance) {
	now := l.config.Now()
	a.roll(now)
	l.endBan(a, now)
	for lane := LastCancel; lane <= MarketData; lane++ {
		for len(a.queue[lane]) > 0 {
			w := a.queue[lane][0]
			w.err = a.never(lane, w.weight)
			if ok, _ := a.ready(lane, w.weight, now); !ok && w.err == nil {
				l.say(a, lane, now)
				l.arm(now)
				return
			}
			a.queue[lane] = a.queue[lane][1:]
			a.grant(w)
		}
	}
	l.arm(now)
}

// never says that a whole minute has not enough points for a request; waiting for them would hold
// up everything behind it.
func (a *allowance) never(lane Lane, weight int) error {
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
	w.ticket = &ticket{of: a, priced: w.priced, weight: w.weight, alone: a.open+a.strays == 0, sent: a.sent,
		used: a.used, told: a.told}
	a.open += w.weight
	close(w.ready)
}

// first is who goes next, nil where nobody waits.
func (a *allowance) first() *waiter {
	for _, lane := range a.queue {
		if len(lane) > 0 {
			return lane[0]
		}
	}
	return nil
}

// withdraw takes back a request whose caller has given up, and its points if it was let go in the
// meantime.
func (l *Ledger) withdraw(a *allowance, w *waiter) {
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

// arm sets the timer for the first moment at which somebody who waits may go, if no answer comes
// before.
func (l *Ledger) arm(now market.Time) {
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
	if alarm == l.alarm {
		return
	}
	if l.stop != nil {
		l.stop()
	}
	if l.alarm, l.stop = alarm, nil; alarm != 0 {
		l.stop = l.config.After(max(time.Millisecond, alarm.Sub(now)), l.ring)
	}
}

// ring is called by the timer.
func (l *Ledger) ring() {
	l.mu.Lock()
	defer l.unlock()
	l.alarm, l.stop = 0, nil
	l.dispatch(&l.key)
	l.dispatch(&l.ip)
}
