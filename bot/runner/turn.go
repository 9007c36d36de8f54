package runner

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/market"
)

// sampleEvery is how often the figures of the account are taken.
const sampleEvery = time.Second

// refusalKind is what refusals are counted by.
type refusalKind struct {
	strategy market.StrategyID
	reason   string // of risk.Count: one of a few
}

// turn is called at the end of each turn of the loop.
func (w *watch) turn() {
	now := w.now()
	w.turned.Store(max(1, int64(now.Sub(w.began))))
	if w.trading.Load() { // systemd waits for signs of life from then on
		w.notify.alive(now)
	}
	if w.leaving.Load() {
		w.notify.patience(now)
	}
	if now.Sub(w.sampled) < sampleEvery {
		return
	}
	w.sampled = now
	w.lookAtHalts()
	w.lookAtLimits()
	w.tellFills(false)
	fresh, worst := w.countRefusals()
	fresh += w.rejected
	w.rejected = 0
	if sum, begins := w.storm.add(now, fresh); begins {
		w.tell(alert.Refusals, "%d refusals within a minute%s", sum, worst)
	}
	if w.metrics != nil {
		w.metrics.sample(w)
	}
}

// lookAtHalts tells of strategies that were halted or resumed since the last look.
func (w *watch) lookAtHalts() {
	for i, name := range w.r.plan.Names() {
		id := market.StrategyID(i + 1)
		halted := w.r.gate.Halted(id)
		if halted == w.halted[id] {
			continue
		}
		w.halted[id] = halted
		if halted {
			w.tell(alert.Halt, "%s is halted: %s", name, w.reasonOf(id))
		} else {
			w.tell(alert.Resume, "%s trades again", name)
		}
	}
}

// reasonOf is why a strategy was last halted.
func (w *watch) reasonOf(id market.StrategyID) (reason string) {
	reason = "by an earlier run"
	for _, h := range w.r.engine.Halts() {
		if h.Strategy == id {
			reason = h.Reason
		}
	}
	return reason
}

// lookAtLimits tells when a limit of the account has been reached, or no longer is.
func (w *watch) lookAtLimits() {
	stand, _ := w.r.gate.Standing()
	before := w.stand
	w.stand = stand
	switch {
	case stand.Lost && !before.Lost:
		w.tell(alert.Halt, "the largest daily loss is reached: nothing is opened until the next day (UTC)")
	case !stand.Lost && before.Lost:
		w.tell(alert.Resume, "a new day: the daily loss counts from zero")
	}
	if stand.Drawn && !before.Drawn {
		w.tell(alert.Halt, "the largest drawdown is reached: nothing is opened until bot halt and bot resume")
	}
}

// countRefusals returns how many refusals of the gate are new, but for those that a warm-up or a
// halt brings with it, and names the most frequent reason among them.
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
			if w.metrics != nil && w.trading.Load() {
				w.metrics.refusals.WithLabelValues(name, c.Reason).Add(float64(more))
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

// storm finds so many refusals within a minute.
type storm struct {
	limit int64 // 0: nobody asks
	seen  []gust
	until time.Time // it was told of; not again before
}

type gust struct {
	at time.Time
	n  int64
}

// add counts refusals. begins says that a storm is to be told of: at most one a minute.
func (s *storm) add(now time.Time, n int64) (sum int64, begins bool) {
	if n > 0 {
		s.seen = append(s.seen, gust{now, n})
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
