package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A strategy sells what its bracket could not protect. The bracket ends with the position, and
// places no exit over base that is bought later, after a restart neither.
func TestABracketEndsWithAPositionThatAnOwnOrderSells(t *testing.T) {
	for name, with := range map[string][]strategy.Option{"sell 1": nil, "sell 1 @ 101": {strategy.At(101 * at1)},
		"stop 1 @ 95": {strategy.StopLoss(95 * at1)}} {
		for _, restarts := range []bool{false, true} {
			h := &bearer{}
			b := bareByHand(t, h)
			h.candle = once(func(d *strategy.Desk) {
				_, err := d.In(1).Sell(strategy.Amount(btc), with...)
				require.NoError(t, err, name)
			})
			require.Equal(t, []string{name}, b.close100())
			sale := b.engine.LastOrder()
			require.Empty(t, b.timer(60e9), "%s holds the base", name)
			require.Empty(t, b.sells(sale, 2, btc, market.StatusFilled), name)
			require.Empty(t, b.engine.Brackets().Bare(), "%s: nothing is held", name)
			_, waits := b.engine.NextTimer()
			require.False(t, waits, name)
			if restarts {
				require.Empty(t, b.restart(nil, h), name)
			}
			h.candle = once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) })
			require.Equal(t, []string{"buy 1"}, b.close100(), name)
			require.Empty(t, b.buys(b.engine.LastOrder(), 3, btc), "after %s", name)
			require.Empty(t, b.timer(600e9), "after %s", name)
			require.Empty(t, b.engine.Brackets().Bare(), name)
		}
	}
}
