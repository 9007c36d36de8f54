package lang

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// walk is a random walk of candles.
func walk(seed uint64, n int) []market.Candle {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]market.Candle, n)
	last := market.Price(4_000_000)
	for i := range list {
		c := market.Candle{Open: last, Market: 1, Interval: market.Interval1h,
			Start: market.Interval1h.StartOf(int64(400_000 + i)), Volume: market.Volume(r.IntN(3) * r.IntN(1e9))}
		c.Close = max(last+market.Price(r.IntN(40_001)-20_000), 100)
		c.High = max(c.Open, c.Close) + market.Price(r.IntN(9000))
		c.Low = max(min(c.Open, c.Close)-market.Price(r.IntN(9000)), 1)
		last, list[i] = c.Close, c
	}
	return list
}

// The rule of the benchmarks, and its twin in Go.
const long = `rsi(14) < 70 and close > sma(50) and close - low > 0.5 * atr(14) or
	(high - close) / (high - low) > 0.9 and volume > 1000`

type twin struct {
	rsi indicator.RSI
	sma indicator.SMA
	atr indicator.ATR
}

func (x *twin) push(c market.Candle) {
	x.rsi.Push(c.Close)
	x.sma.Push(c.Close)
	x.atr.Push(c)
}

//go:noinline
func (x *twin) short(c *market.Candle) bool {
	return x.rsi.Value() < 30 && float64(c.Close) > x.sma.Value()
}

//go:noinline
func (x *twin) long(c *market.Candle) bool {
	return x.rsi.Value() < 70 && float64(c.Close) > x.sma.Value() && float64(c.Close-c.Low) > 0.5*x.atr.Value() ||
		float64(c.High-c.Close)/float64(c.High-c.Low) > 0.9 && c.Volume > 1000e8
}

func BenchmarkRules(b *testing.B) {
	list := walk(1, 1<<14)
	m := aMarket()
	p, err := Compile([]Rule{{"short", "rsi(14) < 30 and close > sma(50)", Condition}, {"long", long, Condition},
		{"none", "close > atr(14) * 1 + close", Condition}}, nil, nil, market.Interval1h)
	require.NoError(b, err)
	for rule, name := range []string{"short", "long"} {
		s := p.New(m)
		in := &Inputs{}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				s.Push(list[i%len(list)])
				s.Eval(rule, in)
			}
		})
	}
	s := p.New(m)
	b.Run("push", func(b *testing.B) {
		for i := range b.N {
			s.Push(list[i%len(list)])
		}
	})
	x := twin{indicator.NewRSI(14), indicator.NewSMA(50), indicator.NewATR(14)}
	b.Run("twin push", func(b *testing.B) {
		for i := range b.N {
			x.push(list[i%len(list)])
		}
	})
	b.Run("twin short", func(b *testing.B) {
		n := 0
		for i := range b.N {
			c := list[i%len(list)]
			x.push(c)
			if x.short(&c) {
				n++
			}
		}
	})
	b.Run("twin long", func(b *testing.B) {
		n := 0
		for i := range b.N {
			c := list[i%len(list)]
			x.push(c)
			if x.long(&c) {
				n++
			}
		}
	})
}
