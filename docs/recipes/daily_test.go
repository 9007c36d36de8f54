package recipes_test

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// recipe
type daily struct {
	strategy.Base
	market market.ID
	size   strategy.Size
}

func (s *daily) OnStart(d *strategy.Desk) { d.Timer(nine(d.Now()), 0) }

func (s *daily) OnTimer(d *strategy.Desk, _ int64) {
	d.In(s.market).Buy(s.size)
	d.Timer(nine(d.Now()), 0)
}

// nine is the next 9:00 UTC after now.
func nine(now market.Time) market.Time {
	return market.Interval1d.Floor(now.Add(-9 * time.Hour)).Add((24 + 9) * time.Hour)
}

// end

var dailyDefinition = strategy.Define("daily", "buys at 9:00 UTC each day",
	func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		return &daily{market: s.Markets[0].ID, size: s.Size("25 quote")}, nil
	})
