package backtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// watcher is a noter that also gets tickers.
type watcher struct{ noter }

func (w *watcher) OnTicker(d *strategy.Desk, t market.Ticker) {
	*w.seen = append(*w.seen, fmt.Sprintf("%s ticker %d", d.Now().Std().Format("15:04"), t.Last))
}

// A strategy must not see the price of the open after it has heard of a fill that came later.
func TestTickersAndFillsOfAPathAreHeardInItsOrder(t *testing.T) {
	s := newStage(t, nil)
	s.plan.Strategies[0].Kind = strategy.Define("watcher", "for a test",
		func(struct{}) strategy.Needs { return strategy.Needs{Ticker: true} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) {
			return &watcher{noter{seen: &s.seen, act: func(d *strategy.Desk, c market.Candle) {
				if c.Start == 0 {
					_, err := d.In(1).Buy(strategy.Amount(1), strategy.At(95))
					require.NoError(t, err)
				}
			}}}, nil
		})
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
	s.feed(1, market.Interval1h, true, true, [5]int64{0, 100, 100, 100, 100}, [5]int64{60, 100, 110, 90, 105})
	s.run(t, Options{})
	require.Equal(t, []string{
		"00:00 ticker 100", "00:20 ticker 100", "00:40 ticker 100", "01:00 ticker 100", "01:00 1 1h",
		"01:00 ticker 100", "01:10 fill 1 @ 95 at 01:10:00", "01:20 ticker 90", "01:40 ticker 110", "02:00 ticker 105",
		"02:00 1 1h",
	}, s.seen)
}
