package backtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A resting limit order that an open has passed fills at its own price, or at the open in a
// reference run: limit_gap, both ways round.
func TestALimitOrderThatTheOpenHasPassedFillsAsLimitGapSays(t *testing.T) {
	for word, want := range map[string][2]string{"own": {"95", "105"}, "open": {"90", "110"}} {
		s := newStage(t, func(d *strategy.Desk, c market.Candle) {
			switch m := d.In(1); {
			case c.Start == 0:
				_, err := m.Buy(strategy.Amount(1), strategy.At(95))
				require.NoError(t, err)
			case m.Position().Amount > 0 && len(m.OpenOrders()) == 0:
				_, err := m.Sell(strategy.Amount(1), strategy.At(105))
				require.NoError(t, err)
			}
		})
		s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
		gap, err := sim.ParseLimitGap(word)
		require.NoError(t, err)
		s.plan.Venue.LimitGap = gap
		s.feed(1, market.Interval1h, true, true, [5]int64{0, 100, 100, 100, 100}, [5]int64{60, 100, 100, 100, 100},
			[5]int64{120, 90, 92, 90, 92}, [5]int64{180, 92, 92, 92, 92}, [5]int64{240, 110, 110, 110, 110})
		s.run(t, Options{})
		told := strings.Join(s.seen, "\n")
		require.Contains(t, told, "02:00 fill 1 @ "+want[0]+" at 02:00:00", word)
		require.Contains(t, told, "04:00 fill 1 @ "+want[1]+" at 04:00:00", word)
	}
	_, err := sim.ParseLimitGap("close")
	require.ErrorContains(t, err, "own")
}
