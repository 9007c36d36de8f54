package strategy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// The first stop of a trailing stop lies below the price at which the buy would begin to fill, and
// sizes by risk count with it.
func TestATrailingStopBeginsBelowThePriceOfItsEntry(t *testing.T) {
	var bench strategytest.Bench
	m := bench.Market("BTC-EUR", 2, 4, 1000_00)
	d := bench.Desk()
	bench.Candle(strategy.Base{}, d, m, 100_00)
	trail := strategy.Trail(5 * market.Percent)
	for _, c := range []struct {
		size strategy.Size
		with []strategy.Option
		want string
	}{
		{strategy.Risk(market.Percent), []strategy.Option{trail}, "buy 2 stop 95 target 0, trail 5%"},
		{strategy.Amount(1_0000), []strategy.Option{trail, strategy.At(90_00)},
			"buy 1 at 90 stop 85.5 target 0, trail 5%"},
		{strategy.Amount(1_0000), []strategy.Option{trail, strategy.At(120_00)},
			"buy 1 at 120 stop 95 target 0, trail 5%"},
		{strategy.Amount(1_0000), []strategy.Option{trail, strategy.StopLoss(110_00)},
			"buy 1 stopLoss 110 on lastTrade stop 104.5 target 0, trail 5%"},
		{strategy.Amount(1_0000), []strategy.Option{trail, strategy.StopAt(70_00)},
			"buy 1 stop 70 target 0, trail 5%"},
		{strategy.Amount(1_0000), []strategy.Option{strategy.TrailBy(3_50), strategy.ByPrices(),
			strategy.ExitAfterTime(time.Hour)},
			"buy 1 stop 96.5 target 0, trail by 3.5, by prices, exit after 1h0m0s"},
	} {
		_, err := d.In(m.ID).Buy(c.size, c.with...)
		require.NoError(t, err)
		asked := bench.Asked()
		require.Equal(t, c.want, asked[len(asked)-1])
	}
}
