package backtest

import (
	"testing"

	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/market"
)

type flipper struct {
	strategy.Base
	long bool
}

func (f *flipper) OnCandle(d *strategy.Desk, c *market.Candle) {
	if f.long = !f.long; f.long {
		_, _ = d.Buy(c.Market, 1_000_000)
		return
	}
	_, _ = d.Sell(c.Market, 1_000_000)
}

var flip = strategy.Define("flip", "an order a candle", func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &flipper{}, nil })

func BenchmarkZBusy(b *testing.B) {
	busy, _ := planOver(b, 100_000, 1_000_000_00, flip, nil)
	for b.Loop() {
		mustRun(b, busy)
	}
}
