package recipes_test

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// recipe
type strongest struct {
	strategy.Base
	gain strategy.PerMarket[indicator.ROC]
}

func (s *strongest) OnCandles(d *strategy.Desk, g strategy.Group) {
	var best market.ID // 0: none has risen
	for _, c := range g.Candles {
		gain := s.gain.In(c.Market)
		gain.Push(c.Close)
		if gain.Ready() && gain.Value() > 0 && (best == 0 || gain.Value() > s.gain.In(best).Value()) {
			best = c.Market
		}
	}
	for _, c := range g.Candles {
		if m := d.In(c.Market); c.Market != best && m.Held() > 0 {
			m.Close()
			return // its money is there at the next candles
		}
	}
	if best != 0 && d.In(best).Flat() {
		d.In(best).Buy(strategy.CashShare(95 * market.Percent))
	}
}

// end

var strongestDefinition = strategy.Define("strongest", "holds the market that has risen most",
	func(struct{}) strategy.Needs { return strategy.Needs{Warmup: 4} },
	func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
		return &strongest{gain: strategy.Each(s, func(market.Market) indicator.ROC { return indicator.NewROC(3) })}, nil
	})
