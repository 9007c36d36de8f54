package dca

import (
	"errors"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// savedPlan is the saved state of a schedule; the engine saves the timer of a schedule by duration.
type savedPlan struct {
	Known    bool            `json:"known"`
	Period   int64           `json:"period"`
	Timer    bool            `json:"timer"`   // by duration
	Candles  int64           `json:"candles"` // the unit of Period
	Interval market.Interval `json:"interval"`
}

// Save writes the last period of each market.
func (x *dca) Save() ([]byte, error) {
	return strategy.SaveMarkets(x.setup, func(m market.ID) savedPlan {
		p := &x.plans[m]
		return savedPlan{Known: p.known, Period: p.period, Timer: x.every != 0, Candles: x.candles,
			Interval: x.setup.Interval}
	})
}

// Load reads the state of Save. With another period of candles the schedule begins as in a new run.
// A change between a schedule by duration and one by candles is an error: the timer would go on, or
// be missing.
func (x *dca) Load(data []byte) error {
	return strategy.LoadMarkets(x.setup, data, func(m market.ID, saved savedPlan) error {
		if saved.Timer != (x.every != 0) {
			return errors.New("the schedule went by duration and now by candles, or the other way round; " +
				"set it back, or give it another name")
		}
		if x.every != 0 || saved.Candles == x.candles && saved.Interval == x.setup.Interval {
			x.plans[m].known, x.plans[m].period = saved.Known, saved.Period
		}
		return nil
	})
}
