package runner

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/market"
)

// sampleEvery is how often the figures of the account are taken.
const sampleEvery = time.Second

// refusalKind is the key by which refusals are counted.
type refusalKind struct {
	strategy market.StrategyID
	reason   string // of risk.Count: one of a few
}

// turn is called at the end of each turn of the loop.
func (w *watch) turn() {
	now := w.now()
	w.turned.Store(max(1, int64(now.Sub(w.began))))
	if w.trading.Load() { // from then on systemd and the watchdog service expect pings
		w.notify.ping(now)
		if w.alerts != nil {
			w.alerts.Beat(now)
		}
	}
	if w.stopping.Load() {
		w.notify.extend(now)
	}
	if now.Sub(w.sampled) < sampleEvery {
		return
	}
	w.sampled = now
	w.look()
	w.checkHalts()
	w.checkLimits()
	w.checkSilence()
	w.alertFills(false)
	w.checkDaily(now)
	fresh, worst := w.countRefusals()
	fresh += w.rejected
	w.rejected = 0
	if sum, begins := w.burst.add(now, fresh); begins {
		w.raise(alert.Refusals, "%d refusals within a minute%s", sum, worst)
	}
	if w.metrics != nil {
		w.metrics.sample(w)
	}
}

// checkHalts raises alerts for strategies that were halted or resumed since the last check.
func (w *watch) checkHalts() {
	for i, name := range w.r.plan.Names() {
		id := market.StrategyID(i + 1)
		halted := w.r.gate.Halted(id)
		if halted == w.halted[id] {
			continue
		}
		w.halted[id] = halted
		if halted {
			w.raise(alert.Halt, "%s is halted: %s", name, w.reasonOf(id))
		} else {
			w.raise(alert.Resume, "%s trades again", name)
		}
	}
}

// reasonOf is the reason of the last halt of a strategy.
func (w *watch) reasonOf(id market.StrategyID) (reason string) {
	reason = "by an earlier run"
	for _, h := range w.r.engine.Halts() {
		if h.Strategy == id {
			reason = h.Reason
		}
	}
	return reason
}

// checkLimits raises alerts when a limit of the account is reached, or holds no longer.
func (w *watch) checkLimits() {
	stand, _ := w.r.gate.Standing()
	before := w.standing
	w.standing = stand
	switch {
	case stand.Lost && !before.Lost:
		w.raise(alert.Halt, "the largest daily loss is reached: nothing is opened until the next day (UTC)")
	case !stand.Lost && before.Lost:
		w.raise(alert.Resume, "a new day: the daily loss counts from zero")
	}
	if stand.Drawn && !before.Drawn {
		w.raise(alert.Halt, "the largest drawdown is reached: nothing is opened until bot halt and bot resume")
	}
}

// countRefusals returns the number of new refusals of the gate, without those of a warm-up or a
// halt, and the most frequent reason as a phrase.
func (w *watch) countRefusals() (fresh int64, worst string) {
	most := int64(0)
	for i, name := range w.r.plan.Names() {
		id := market.StrategyID(i + 1)
		for _, c := range w.r.gate.Refused(id) {
			kind := refusalKind{id, c.Reason}
			more := c.N - w.refused[kind]
			if more <= 0 {
				continue
			}
			w.refused[kind] = c.N
			if w.trading.Load() {
				w.count("refusals_total", more, name, c.Reason)
			}
			if c.Reason == "warm_up" || c.Reason == "halted" {
				continue
			}
			fresh += more
			if more > most {
				most, worst = more, fmt.Sprintf(", of late mostly %s: %s", name, c.Reason)
			}
		}
	}
	return fresh, worst
}

// refusalBurst detects limit refusals within a minute.
type refusalBurst struct {
	limit int64 // 0: off
	seen  []refusalSample
	until time.Time // no alert before
}

type refusalSample struct {
	at time.Time
	n  int64
}

// add counts refusals. begins asks for an alert, at most once a minute.
func (s *refusalBurst) add(now time.Time, n int64) (sum int64, begins bool) {
	if n > 0 {
		s.seen = append(s.seen, refusalSample{now, n})
	}
	for len(s.seen) > 0 && now.Sub(s.seen[0].at) >= time.Minute {
		s.seen = s.seen[1:]
	}
	for _, g := range s.seen {
		sum += g.n
	}
	if s.limit == 0 || sum < s.limit || now.Before(s.until) {
		return sum, false
	}
	s.until = now.Add(time.Minute)
	return sum, true
}
