package risk

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// equityWatch follows the account's equity for the daily loss and the drawdown.
type equityWatch struct {
	day       int64
	dayStart  market.Money
	highWater market.Money
	latest    market.Money
	started   bool
	lost      bool // the daily loss is used up
	drawn     bool // the drawdown was reached: stays until Resume

	savedAt market.Time // prices up to then are an earlier run's; 0: there are none
	resumed market.Time // time of this run's first look
}

// After a pause of more than shortPause between two runs the high-water mark waits for prices of
// this run, at most for pricesWithin.
const (
	shortPause   = market.Duration(5 * time.Minute)
	pricesWithin = market.Duration(10 * time.Minute)
)

func (w *equityWatch) loss() market.Money { return w.dayStart - w.latest }
func (w *equityWatch) fall() market.Money { return w.highWater - w.latest }

func (w *equityWatch) drawdown() market.Rate {
	return Standing{Latest: w.latest, HighWater: w.highWater}.Drawdown()
}

// Observe follows the equity after an event was folded into the account, if a limit depends on it.
func (g *Gate) Observe(a *state.Account, at market.Time) error {
	g.now = at
	if !g.followsEquity() {
		return nil
	}
	return g.watchEquity(a, at)
}

// Transferred is Observe for a balance that changed from outside: a deposit is no gain, a
// withdrawal no loss.
func (g *Gate) Transferred(a *state.Account, at market.Time) error {
	if w := &g.equity; g.followsEquity() && w.started {
		equity, err := a.Equity(g.account.Currency)
		if err != nil {
			return fmt.Errorf("risk: %w", err)
		}
		moved := equity - w.latest
		w.dayStart, w.highWater, w.latest = w.dayStart+moved, w.highWater+moved, equity
		g.changed = true
	}
	return g.Observe(a, at)
}

// Observes reports whether a limit depends on events: Observe or Closes has something to do.
func (g *Gate) Observes() bool { return g.followsEquity() || g.volatility != nil }

// followsEquity reports whether a limit depends on the equity, or a daily loss is used up, which a
// new day ends.
func (g *Gate) followsEquity() bool {
	return g.account.MaxDailyLoss != 0 || g.account.MaxDrawdown != 0 || g.equity.lost
}

func (g *Gate) watchEquity(a *state.Account, at market.Time) error {
	equity, err := a.Equity(g.account.Currency)
	if err != nil {
		return fmt.Errorf("risk: %w", err)
	}
	w := &g.equity
	if w.resumed == 0 {
		w.resumed = at
	}
	if day := at.Day(); !w.started || day != w.day {
		start := w.latest
		if !w.started {
			start = equity
		}
		w.day, w.dayStart, w.lost, w.started = day, start, false, true
		g.changed = true
	}
	w.latest = equity
	if equity > w.highWater && g.pricesAreOfThisRun(a, at) {
		w.highWater, g.changed = equity, true
	}
	if limit := g.account.MaxDailyLoss; limit > 0 && w.loss() >= limit && !w.lost {
		w.lost, g.changed = true, true
	}
	if limit := g.account.MaxDrawdown; limit > 0 && !w.drawn {
		allowed, err := market.ValueOf(int64(w.highWater)).MulRate(limit)
		if err != nil {
			return fmt.Errorf("risk: %w", err)
		}
		w.drawn = market.ValueOf(int64(w.fall())).Cmp(allowed.QuoInt(1e8)) >= 0 && w.fall() > 0
		g.changed = g.changed || w.drawn
	}
	return nil
}

// pricesAreOfThisRun reports whether the account is valued at prices of this run. Fills from the
// pause between two runs come before the first prices: a buy far below the last run's price would
// look like a gain, and the true price like a fall.
func (g *Gate) pricesAreOfThisRun(a *state.Account, at market.Time) bool {
	w := &g.equity
	if w.savedAt == 0 {
		return true
	}
	paused := w.resumed.Sub(w.savedAt) > shortPause
	if paused && !a.PricedSince(g.account.Currency, w.savedAt) && at.Sub(w.resumed) < pricesWithin {
		return false
	}
	w.savedAt = 0
	return true
}

// Standing is the account's equity beside its limits, in units of its currency.
type Standing struct {
	Latest    market.Money // equity
	DayStart  market.Money // the last equity of the UTC day before
	HighWater market.Money
	Lost      bool // the daily loss is used up: nothing is opened until the next day
	Drawn     bool // the drawdown was reached: nothing is opened
}

// Standing returns the equity beside its limits. followed is false where no limit depends on the
// equity, and before the first event.
func (g *Gate) Standing() (s Standing, followed bool) {
	w := &g.equity
	return Standing{Latest: w.latest, DayStart: w.dayStart, HighWater: w.highWater, Lost: w.lost,
		Drawn: w.drawn}, w.started
}

// Drawdown is the fall of the equity from its high-water mark, rounded down and at least 0.
func (s Standing) Drawdown() market.Rate {
	if s.HighWater <= 0 || s.Latest >= s.HighWater {
		return 0
	}
	fall, err := market.ValueOf(int64(s.HighWater - s.Latest)).MulRate(1e8)
	if err != nil {
		return 0
	}
	rate, err := fall.QuoInt(int64(s.HighWater)).FloorMoney(0)
	if err != nil {
		return 0
	}
	return market.Rate(rate)
}
