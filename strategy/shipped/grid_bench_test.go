package shipped_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// BenchmarkStandingLadder is a close at which every order rests at its price.
func BenchmarkStandingLadder(b *testing.B) {
	for _, levels := range []int64{5, 50} {
		b.Run(fmt.Sprint("levels=", levels), func(b *testing.B) {
			var bench strategytest.Bench
			m := bench.Market("BTC-EUR", 1, 8, 1_000_000_00)
			s, err := shipped.Grid.New(map[string]any{"levels": levels}, bench.Setup(market.Interval1h))
			require.NoError(b, err)
			desk := bench.Desk()
			for range 3 {
				bench.Candle(s, desk, m, 20_000_0)
			}
			c := market.Candle{Market: m.ID, Close: 20_000_0}
			b.ReportAllocs()
			for b.Loop() {
				s.OnCandle(desk, c)
			}
		})
	}
}
