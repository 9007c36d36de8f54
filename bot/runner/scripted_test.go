package runner

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// onTicker is what a strategy does with a ticker.
type onTicker func(d *strategy.Desk, t market.Ticker)

// script is a strategy that does nothing else.
type script struct {
	strategy.Base
	act onTicker
}

func (s *script) OnTicker(d *strategy.Desk, t market.Ticker) { s.act(d, t) }

// scripted is a kind of such strategies; begin returns what one does from a start on.
func scripted(name string, begin func() onTicker) strategy.Definition {
	return onTickers(name, func() strategy.Strategy { return &script{act: begin()} })
}

// always remembers nothing.
func always(act onTicker) func() onTicker { return func() onTicker { return act } }

// buysOnce asks until it is let buy.
func buysOnce(buy func(m strategy.MarketDesk, last market.Price) error) func() onTicker {
	return func() onTicker {
		bought := false
		return func(d *strategy.Desk, t market.Ticker) { bought = bought || buy(d.In(t.Market), t.Last) == nil }
	}
}

// whenFlat acts while nothing is held and no order is open.
func whenFlat(act func(m strategy.MarketDesk, last market.Price)) func() onTicker {
	return always(func(d *strategy.Desk, t market.Ticker) {
		if m := d.In(t.Market); m.Flat() && len(m.OpenOrders()) == 0 {
			act(m, t.Last)
		}
	})
}

// onTickers is a kind without parameters that hears prices.
func onTickers(name string, build func() strategy.Strategy) strategy.Definition {
	return strategy.Define(name, "a strategy of the tests",
		func(struct{}) strategy.Needs { return strategy.Needs{Ticker: true} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return build(), nil })
}
