package shipped_test

import (
	"testing"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// BenchmarkCandle is a candle without a cross: two averages and one comparison, called through the
// interface.
func BenchmarkCandle(b *testing.B) {
	var bench strategytest.Bench
	m := bench.Market("BTC-EUR", 2, 8, 0)
	s, err := shipped.SMACross.New(nil, bench.Setup(market.Interval1m))
	if err != nil {
		b.Fatal(err)
	}
	d, c := bench.Desk(), market.Candle{Market: m.ID, Close: 100}
	for b.Loop() {
		c.Close++
		s.OnCandle(d, c)
	}
}
