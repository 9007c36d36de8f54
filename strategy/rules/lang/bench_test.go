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

// BenchmarkRules measures rules beside the same in Go: a decision (eval) and a candle (push).
// The twin takes the figures from its indicators at each decision, as the code does from its cells.
func BenchmarkRules(b *testing.B) {
	list := walk(1, 1<<14)
	p, err := Compile([]Rule{{"short", "rsi(14) < 30 and close > sma(50)", Condition}, {"long", long, Condition}},
		nil, nil, market.Interval1h)
	require.NoError(b, err)
	s, in := p.New(aMarket()), &Inputs{}
	x := twin{indicator.NewRSI(14), indicator.NewSMA(50), indicator.NewATR(14)}
	run := func(name string, f func(c *market.Candle)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				f(&list[i%len(list)])
			}
		})
	}
	set := func(c *market.Candle) { // what a decision reads changes, without the cost of indicators
		cells := s.cells[p.streams[0].fields:]
		cells[1], cells[2], cells[3] = float64(c.High), float64(c.Low), float64(c.Close)
	}
	for _, c := range list {
		s.Push(c)
		x.push(c)
	}
	run("eval/floor", set)
	run("eval/short", func(c *market.Candle) { set(c); s.Eval(0, in) })
	run("eval/long", func(c *market.Candle) { set(c); s.Eval(1, in) })
	run("eval/short in Go", func(c *market.Candle) { x.short(c) })
	run("eval/long in Go", func(c *market.Candle) { x.long(c) })
	run("push/rules", func(c *market.Candle) { s.Push(*c) })
	run("push/in Go", func(c *market.Candle) { x.push(*c) })
	both := p
	p, err = Compile([]Rule{{"up", "sma(20) crosses above sma(50)", Condition},
		{"down", "sma(20) crosses below sma(50)", Condition}}, nil, nil, market.Interval1h)
	require.NoError(b, err)
	cross, exact := p.New(aMarket()), indicator.NewCross(20, 50)
	run("cross/rules", func(c *market.Candle) {
		cross.Push(*c)
		cross.Eval(0, in)
		cross.Eval(1, in)
	})
	run("cross/in Go", func(c *market.Candle) { exact.Push(c.Close) })
	for _, one := range []struct {
		name string
		p    *Program
	}{{"cross", p}, {"short and long", both}} {
		row := one.p.New(aMarket())
		b.Run("rows/"+one.name, func(b *testing.B) { // a candle, its decisions included
			b.ReportAllocs()
			for done := 0; done < b.N; {
				at := done % len(list)
				n := row.Look(list[at:], 0, 1)
				row.Pass(n)
				done += n
			}
		})
	}
	row := indicator.NewCross(20, 50)
	b.Run("rows/cross in Go", func(b *testing.B) {
		for done := 0; done < b.N; {
			at := done % len(list)
			n := row.Skip(list[at:min(at+64, len(list))])
			if done += n; n == 0 {
				row.Push(list[at].Close)
				done++
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile([]Rule{{"long", long, Condition}}, nil, nil, market.Interval1h); err != nil {
			b.Fatal(err)
		}
	}
}

func TestACandleAndADecisionAllocateNothing(t *testing.T) {
	list := walk(1, 300)
	for _, text := range texts {
		p, err := Compile([]Rule{{"rule", text, Condition}}, nil, nil, market.Interval1h)
		require.NoError(t, err)
		s, i, in := p.New(aMarket()), 0, Inputs{}
		require.Zero(t, testing.AllocsPerRun(250, func() {
			s.Push(list[i])
			s.PushOf(market.Interval4h, list[i])
			s.Eval(0, &in)
			i++
		}), text)
	}
}
