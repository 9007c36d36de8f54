package risk

import "github.com/tidemark-trading/tidemark/market"

// Standing is how the account stands against the limits on its equity, in units of its currency.
type Standing struct {
	Latest    market.Money // equity
	DayStart  market.Money // the last equity of the UTC day before
	HighWater market.Money
	Lost      bool // the daily loss is used up: nothing is opened until the next day
	Drawn     bool // the drawdown was reached: nothing is opened
}

// Standing returns how the account stands. followed is false where no limit depends on the equity, so that nobody looks at it, or before the
// first look.
func (g *Gate) Standing() (s Standing, followed bool) {
	w := &g.equity
	return Standing{Latest: w.latest, DayStart: w.dayStart, HighWater: w.highWater, Lost: w.lost, Drawn: w.drawn}, w.started
}
