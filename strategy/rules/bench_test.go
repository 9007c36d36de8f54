package rules_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// cross is smacross as rules.
var cross = map[string]any{"fast": int64(20), "slow": int64(50), "rules.size": "99% cash",
	"rules.entry": "sma(fast) crosses above sma(slow)", "rules.exit": "sma(fast) crosses below sma(slow)"}

// BenchmarkCandle is a candle without an ask, of smacross in Go and as rules.
func BenchmarkCandle(b *testing.B) {
	for _, one := range []struct {
		name   string
		kind   strategy.Definition
		values map[string]any
	}{{"go", shipped.SMACross, nil}, {"rules", rules.Definition, cross}} {
		b.Run(one.name, func(b *testing.B) {
			var bench strategytest.Bench
			m := bench.Market("BTC-EUR", 2, 8, 0)
			s, err := one.kind.New(one.values, bench.Setup(market.Interval1h))
			if err != nil {
				b.Fatal(err)
			}
			d, r := bench.Desk(), rand.New(rand.NewPCG(1, 2))
			var list []market.Candle
			hour := market.Time(market.Interval1h.Fixed())
			for i := range 4096 {
				price := market.Price(1_000_000 + 20*i + r.IntN(100)) // it rises: no cross
				list = append(list, market.Candle{Market: m.ID, Interval: market.Interval1h, Open: price, High: price,
					Low: price, Close: price, Volume: 1, Start: market.Time(i) * hour})
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.OnCandle(d, list[i%4096])
			}
		})
	}
}
