package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// Seen at 19e23ada, life 2000620: the owner had cancelled an exit while the stream was down, and
// the kill switch sold. The bracket placed its exit again before the sale's fill came, and that
// exit then rested over the owner's coins.
func TestNoExitIsPlacedOverBaseThatASaleOutsideMaySell(t *testing.T) {
	for name, restarts := range map[string]bool{"one run": false, "with a restart": true} {
		for _, fills := range []bool{true, false} {
			b := byHand(t, &bearer{})
			b.accept(2)
			b.now += 1e9
			sale := &market.Order{Side: market.Sell, Type: market.TypeMarket, Market: 1, Strategy: 1, Created: b.now,
				OrderState: market.OrderState{Amount: btc, AmountRemaining: btc}}
			b.engine.Enter(&market.Input{Kind: market.InputAdopt, At: b.now, Order: sale})
			require.Empty(t, b.ends(2), "%s: the whole amount is in the sale", name)
			if restarts {
				require.Empty(t, b.restart(nil, &bearer{}), name)
			}
			require.Empty(t, b.timer(60e9), name)
			require.Len(t, b.engine.Brackets().Bare(), 1)
			if fills {
				require.Empty(t, b.sells(3, 3, btc, market.StatusFilled), name)
				require.Zero(t, b.position())
				require.Empty(t, b.timer(60e9))
				require.Zero(t, b.engine.Brackets().Bare())
				continue
			}
			require.Equal(t, []string{"stop 1 @ 90"}, b.cancelled(3, 0), "%s: the sale has sold nothing", name)
		}
	}
}
