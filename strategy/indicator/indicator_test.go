package indicator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// figure is any indicator, for the promises that all of them make.
type figure struct {
	name   string
	warmup int
	push   func(c market.Candle)
	values func() []float64
}

func figures() []figure {
	sma, ema, rsi, atr := indicator.NewSMA(20), indicator.NewEMA(20), indicator.NewRSI(14), indicator.NewATR(14)
	deviation, band := indicator.NewStdDev(20), indicator.NewBollinger(20, 2)
	channel, vwap := indicator.NewDonchian(20), indicator.NewVWAP(20)
	one := func(f func() float64) func() []float64 { return func() []float64 { return []float64{f()} } }
	return []figure{
		{"SMA", sma.Warmup(), func(c market.Candle) { sma.Push(c.Close) }, one(sma.Value)},
		{"EMA", ema.Warmup(), func(c market.Candle) { ema.Push(c.Close) }, one(ema.Value)},
		{"RSI", rsi.Warmup(), func(c market.Candle) { rsi.Push(c.Close) }, one(rsi.Value)},
		{"ATR", atr.Warmup(), atr.Push, one(atr.Value)},
		{"StdDev", deviation.Warmup(), func(c market.Candle) { deviation.Push(c.Close) }, one(deviation.Value)},
		{"Bollinger", band.Warmup(), func(c market.Candle) { band.Push(c.Close) },
			func() []float64 { return []float64{band.Lower(), band.Middle(), band.Upper()} }},
		{"Donchian", channel.Warmup(), channel.Push,
			func() []float64 { return []float64{float64(channel.Low()), float64(channel.High())} }},
		{"VWAP", vwap.Warmup(), vwap.Push, one(vwap.Value)},
	}
}

// walk is a seeded path of candles whose moves are wild in its first half and a thousand times
// smaller after it.
func walk(count int) []market.Candle {
	random := rand.New(rand.NewPCG(7, 11))
	price, all := int64(5_000_000_000), make([]market.Candle, count)
	for i := range all {
		reach := 50_000_000.0
		if i > count/2 {
			reach /= 1000
		}
		open := price
		price = max(1_000_000, price+int64(random.NormFloat64()*reach))
		high, low := max(open, price)+random.Int64N(1000), max(1, min(open, price)-random.Int64N(1000))
		all[i] = market.Candle{Open: market.Price(open), High: market.Price(high), Low: market.Price(low),
			Close: market.Price(price), Volume: market.Volume(random.Int64N(1_000_000))}
	}
	return all
}

func TestStartingBeforeTheWarmupChangesNothing(t *testing.T) {
	all := walk(4000)
	early, late := figures(), figures()
	for i := range early {
		t.Run(early[i].name, func(t *testing.T) {
			from := len(all)/2 + 1 // where the wild half ends: the worst that can be forgotten
			for c := range all {
				early[i].push(all[c])
				if c < from {
					continue
				}
				late[i].push(all[c])
				if c-from+1 < late[i].warmup {
					continue
				}
				want, have := early[i].values(), late[i].values()
				for v := range want {
					require.LessOrEqual(t, math.Abs(want[v]-have[v]), 1e-9*math.Abs(want[v]),
						"candle %d after the late start", c-from+1)
				}
			}
		})
	}
}

func TestHalfAWarmupIsNotEnoughToForget(t *testing.T) {
	all := walk(4000)
	early, late := figures(), figures()
	for i := range early {
		t.Run(early[i].name, func(t *testing.T) {
			from := len(all)/2 + 1
			for c := range from + late[i].warmup/2 {
				early[i].push(all[c])
				if c >= from {
					late[i].push(all[c])
				}
			}
			require.NotEqual(t, early[i].values(), late[i].values())
		})
	}
}

func TestPushingAllocatesNothing(t *testing.T) {
	all := walk(500)
	for _, f := range figures() {
		at := 0
		require.Zero(t, testing.AllocsPerRun(400, func() { f.push(all[at]); at++ }), f.name)
	}
}

func TestRSIAtItsEdges(t *testing.T) {
	cases := []struct {
		name string
		step market.Price
		want float64
	}{
		{"only gains", 1, 100},
		{"only losses", -1, 0},
		{"standing still", 0, 50},
	}
	for _, c := range cases {
		rsi := indicator.NewRSI(14)
		for i := range 20 {
			rsi.Push(1000 + c.step*market.Price(i))
		}
		require.Equal(t, c.want, rsi.Value(), c.name)
	}
}

func TestRSIForgetsInAStillMarket(t *testing.T) {
	rsi := indicator.NewRSI(14)
	for i := range 30 {
		rsi.Push(1_000_000 + 100*market.Price(i))
	}
	for range rsi.Warmup() {
		rsi.Push(1_002_900)
	}
	require.Equal(t, 50.0, rsi.Value())
}

// A sum of floats would leave about 1e-3 here: that is a deviation where there is none, and a cross
// that never was.
func TestEqualPricesAfterHugeOnesHaveNoDeviation(t *testing.T) {
	deviation, sma := indicator.NewStdDev(10), indicator.NewSMA(10)
	for i := range 1000 {
		p := market.Price(9_000_000_000_000_000 / (i + 1))
		deviation.Push(p)
		sma.Push(p)
	}
	for range 10 {
		deviation.Push(3)
		sma.Push(3)
	}
	require.Zero(t, deviation.Value())
	require.Equal(t, market.Price(30), sma.Sum())
}

func TestAWindowBelowOnePanics(t *testing.T) {
	require.PanicsWithValue(t, "indicator: a window of 0", func() { indicator.NewSMA(0) })
	require.PanicsWithValue(t, "indicator: a window of -1", func() { indicator.NewRSI(-1) })
	require.PanicsWithValue(t, "indicator: a window of 0", func() { indicator.NewDonchian(0) })
}

func ExampleSMA() {
	average := indicator.NewSMA(3)
	for _, price := range []market.Price{10, 20, 30, 70} {
		average.Push(price)
		fmt.Println(average.Ready(), average.Sum())
	}
	// Output:
	// false 10
	// false 30
	// true 60
	// true 120
}

func ExampleEMA() {
	average := indicator.NewEMA(3)
	for _, price := range []market.Price{10, 20, 30, 70} {
		average.Push(price)
	}
	fmt.Println(average.Value())
	// Output: 45
}

func ExampleRSI() {
	strength := indicator.NewRSI(2)
	for _, price := range []market.Price{100, 130, 120} {
		strength.Push(price)
	}
	fmt.Println(strength.Value())
	// Output: 75
}

func ExampleATR() {
	reach := indicator.NewATR(2)
	reach.Push(market.Candle{High: 110, Low: 100, Close: 100})
	reach.Push(market.Candle{High: 130, Low: 120, Close: 125}) // opened with a gap
	fmt.Println(reach.Value())
	// Output: 20
}

func ExampleStdDev() {
	deviation := indicator.NewStdDev(4)
	for _, price := range []market.Price{10, 10, 20, 20} {
		deviation.Push(price)
	}
	fmt.Println(deviation.Mean(), deviation.Value())
	// Output: 15 5
}

func ExampleBollinger() {
	band := indicator.NewBollinger(4, 2)
	for _, price := range []market.Price{10, 10, 20, 20} {
		band.Push(price)
	}
	fmt.Println(band.Lower(), band.Middle(), band.Upper())
	// Output: 5 15 25
}

func ExampleDonchian() {
	channel := indicator.NewDonchian(2)
	for _, c := range []market.Candle{{High: 50, Low: 40}, {High: 30, Low: 20}, {High: 45, Low: 25}} {
		channel.Push(c)
	}
	fmt.Println(channel.Low(), channel.High())
	// Output: 20 45
}

func ExampleVWAP() {
	average := indicator.NewVWAP(2)
	average.Push(market.Candle{High: 11, Low: 9, Close: 10, Volume: 3})
	average.Push(market.Candle{High: 22, Low: 18, Close: 20, Volume: 1})
	fmt.Println(average.Value())
	// Output: 12.5
}
