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

// Drawdown is how far the equity has fallen from its high-water mark, rounded down; 0 where that is not positive.
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
