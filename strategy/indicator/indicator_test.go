package indicator_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// figure is any indicator, for the promises that all of them make.
type figure struct {
	name   string // how it is made
	warmup int
	kind   memory
	push   func(c market.Candle)
	ready  func() bool
	values func() []float64
}

// memory is how an indicator forgets.
type memory int

const (
	windowed    memory = iota // it knows its window and nothing else
	exponential               // the past loses weight
	endless                   // a part of it never goes
	event                     // it reports what happens
)

func closing(push func(market.Price)) func(market.Candle) {
	return func(c market.Candle) { push(c.Close) }
}

// line is any line that moves like the market and is no price.
func line(push func(float64)) func(market.Candle) {
	return func(c market.Candle) { push(float64(c.Close) / 7) }
}

// any indicator
type pushed interface {
	Warmup() int
	Ready() bool
}

func made(name string, kind memory, x pushed, push func(market.Candle), values ...func() float64) figure {
	return figure{name, x.Warmup(), kind, push, x.Ready, func() (all []float64) {
		for _, value := range values {
			all = append(all, value())
		}
		return all
	}}
}

func price(f func() market.Price) func() float64 { return func() float64 { return float64(f()) } }

func level(f func() indicator.Level) func() float64 { return func() float64 { return f().Value() } }

// figures are one of each indicator.
func figures() []figure {
	return slices.Concat(averages(), chains(), channels(), oscillators(), candleFigures(), trends(), momenta(), bands(),
		spreads(), events())
}

func averages() []figure {
	sma, ema, wma, hma := indicator.NewSMA(20), indicator.NewEMA(20), indicator.NewWMA(20), indicator.NewHMA(20)
	kama, vwma, vwap := indicator.NewKAMA(10), indicator.NewVWMA(20), indicator.NewVWAP(20)
	return []figure{
		made("NewSMA(20)", windowed, &sma, closing(sma.Push), sma.Value),
		made("NewEMA(20)", exponential, &ema, closing(ema.Push), ema.Value),
		made("NewWMA(20)", windowed, &wma, closing(wma.Push), wma.Value),
		made("NewHMA(20)", windowed, &hma, closing(hma.Push), hma.Value),
		made("NewKAMA(10)", exponential, &kama, closing(kama.Push), kama.Value),
		made("NewVWMA(20)", windowed, &vwma, vwma.Push, vwma.Value),
		made("NewVWAP(20)", windowed, &vwap, vwap.Push, vwap.Value),
	}
}

func trends() []figure {
	macd, adx, super := indicator.NewMACD(12, 26, 9), indicator.NewADX(14), indicator.NewSupertrend(10, 3)
	regression, slope := indicator.NewRegression(20), indicator.NewSlope(5)
	return []figure{
		made("NewMACD(12, 26, 9)", exponential, &macd, closing(macd.Push), macd.Value, macd.Signal, macd.Histogram),
		made("NewADX(14)", exponential, &adx, adx.Push, adx.Value, adx.Plus, adx.Minus),
		made("NewSupertrend(10, 3)", exponential, &super, super.Push, super.Value),
		made("NewRegression(20)", windowed, &regression, closing(regression.Push), regression.Value,
			regression.Slope),
		made("NewSlope(5)", windowed, &slope, line(slope.Push), slope.Value),
	}
}

func momenta() []figure {
	rsi, stochastic, cci := indicator.NewRSI(14), indicator.NewStochastic(14, 3, 3), indicator.NewCCI(20)
	roc, mfi, obv := indicator.NewROC(10), indicator.NewMFI(14), indicator.NewOBV()
	return []figure{
		made("NewRSI(14)", exponential, &rsi, closing(rsi.Push), rsi.Value),
		made("NewStochastic(14, 3, 3)", windowed, &stochastic, stochastic.Push, stochastic.Value, stochastic.Signal),
		made("NewCCI(20)", windowed, &cci, cci.Push, cci.Value),
		made("NewROC(10)", windowed, &roc, closing(roc.Push), roc.Value),
		made("NewMFI(14)", windowed, &mfi, mfi.Push, mfi.Value),
		made("NewOBV()", endless, &obv, obv.Push, obv.Value),
	}
}

func bands() []figure {
	band, keltner := indicator.NewBollinger(20, 2), indicator.NewKeltner(20, 10, 2)
	channel, stops := indicator.NewDonchian(20), indicator.NewChandelier(22, 3)
	highest, lowest := indicator.NewHighest(20), indicator.NewLowest(20)
	return []figure{
		made("NewBollinger(20, 2)", windowed, &band, closing(band.Push), level(band.Lower), level(band.Middle),
			level(band.Upper)),
		made("NewKeltner(20, 10, 2)", exponential, &keltner, keltner.Push, level(keltner.Lower), level(keltner.Middle),
			level(keltner.Upper)),
		made("NewDonchian(20)", windowed, &channel, channel.Push, price(channel.Low), level(channel.Middle),
			price(channel.High)),
		made("NewChandelier(22, 3)", exponential, &stops, stops.Push, level(stops.Long), level(stops.Short)),
		made("NewHighest(20)", windowed, &highest, closing(highest.Push), highest.Value, price(highest.Price)),
		made("NewLowest(20)", windowed, &lowest, closing(lowest.Push), lowest.Value, price(lowest.Price)),
	}
}

func spreads() []figure {
	atr, deviation, score := indicator.NewATR(14), indicator.NewStdDev(20), indicator.NewZScore(20)
	rank, correlation := indicator.NewRank(20), indicator.NewCorrelation(20)
	batch := indicator.NewBatch(20, func(x []float64) []float64 { return x[:1] })
	return []figure{
		made("NewATR(14)", exponential, &atr, atr.Push, atr.Value),
		made("NewStdDev(20)", windowed, &deviation, closing(deviation.Push), deviation.Value),
		made("NewZScore(20)", windowed, &score, closing(score.Push), score.Value),
		made("NewRank(20)", windowed, &rank, line(rank.Push), rank.Value),
		made("NewCorrelation(20)", windowed, &correlation,
			func(c market.Candle) { correlation.Push(c.Close-c.Open, c.Low-c.Close) }, correlation.Value),
		made("NewBatch(20, f)", windowed, &batch, line(batch.Push), batch.Value),
	}
}

func events() []figure {
	cross, lines, since := indicator.NewCross(2, 3), indicator.LineCross{}, indicator.Since{}
	exact, of, count := 0.0, 0.0, func() float64 { return since.Value() }
	return []figure{
		made("NewCross(2, 3)", event, &cross, func(c market.Candle) { exact = float64(cross.Push(c.Close)) },
			func() float64 { return exact }),
		made("LineCross{}", event, &lines,
			func(c market.Candle) { of = float64(lines.Push(float64(c.Close), float64(c.Open))) },
			func() float64 { return of }),
		made("Since{}", endless, &since, func(c market.Candle) { since.Push(c.Close > c.Open) }, count),
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
			Close: market.Price(price), Volume: market.Volume(random.Int64N(1_000_000)),
			Start: hour(i), Interval: market.Interval1h}
	}
	return all
}

func hour(i int) market.Time { return market.Time(i) * market.Time(time.Hour) }

func TestStartingBeforeTheWarmupOfAWindowChangesNothing(t *testing.T) {
	all := walk(4000)
	early, late := figures(), figures()
	for i := range early {
		if early[i].kind != windowed && early[i].kind != event {
			continue
		}
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
					require.LessOrEqual(t, math.Abs(want[v]-have[v]), 1e-9*max(1, math.Abs(want[v])),
						"candle %d after the late start", c-from+1)
				}
			}
		})
	}
}

func TestStartingBeforeTheWarmupOfAnAverageChangesLittle(t *testing.T) {
	all := walk(8000)[:4000] // of moves that keep their size
	for i, f := range figures() {
		if f.kind != exponential {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			reach := reachOf(f, all)
			for from := 200; from < len(all)-1000; from += 100 {
				early, late := figures()[i], figures()[i]
				for c := range from + f.warmup {
					early.push(all[c])
					if c >= from {
						late.push(all[c])
					}
				}
				want, have := early.values(), late.values()
				for v := range want {
					require.LessOrEqual(t, math.Abs(want[v]-have[v]), 0.003*reach[v], "line %d from %d on", v, from)
				}
			}
		})
	}
}

// The warm-up is the first push after which all earlier ones have less than 0.1 % of the weight:
// how much of prices of 1 is left in an average after so many of 0.
func TestTheWarmupIsWhereThePastLosesItsWeight(t *testing.T) {
	const one = market.Price(1_000_000_000_000)
	left := func(push func(market.Price), value func() float64, pushes int) float64 {
		for range 20_000 {
			push(one)
		}
		for range pushes {
			push(0)
		}
		return value() / float64(one)
	}
	for _, n := range []int{2, 3, 10, 50, 200} {
		ema, atr := indicator.NewEMA(n), indicator.NewATR(n)
		flat := func(reach market.Price) { atr.Push(market.Candle{High: 5 + reach, Low: 5, Close: 5}) }
		for _, x := range []struct {
			push   func(market.Price)
			value  func() float64
			warmup int
			about  float64
		}{
			{ema.Push, ema.Value, ema.Warmup(), 3.45},
			{flat, atr.Value, atr.Warmup() - 1, 6.91}, // the first range lacks the close before it
		} {
			require.Less(t, left(x.push, x.value, x.warmup), 0.001, n)
			require.GreaterOrEqual(t, left(x.push, x.value, x.warmup-1), 0.001, n)
			if n >= 50 {
				require.InEpsilon(t, x.about, float64(x.warmup)/float64(n), 0.02, n)
			}
		}
	}
}

// The worst market: all of the past is high, and of the first n prices those that weigh more in the
// earlier average than in the mean that the later one starts with.
func TestStartingBeforeTheWarmupOfAnEMAMovesItLittleInTheWorstMarket(t *testing.T) {
	const high = market.Price(1_000_000_000_000)
	worst := 0.0
	for n := 1; n <= 200; n++ {
		early, late, kept := indicator.NewEMA(n), indicator.NewEMA(n), float64(n-1)/float64(n+1)
		for range 20 * n {
			early.Push(high)
		}
		for i := range late.Warmup() {
			p := market.Price(0)
			if i < n && (1-kept)*math.Pow(kept, float64(n-1-i)) > 1/float64(n) {
				p = high
			}
			early.Push(p)
			late.Push(p)
		}
		worst = max(worst, math.Abs(early.Value()-late.Value())/float64(high))
	}
	require.Less(t, worst, 0.003)
	require.Greater(t, worst, 0.002, "the promise could be a better one")
}

func TestAWarmupIsNotOverBeforeTheFigureIsReady(t *testing.T) {
	all := walk(200)
	for n := 1; n <= 5; n++ {
		ema, rsi, atr, kama := indicator.NewEMA(n), indicator.NewRSI(n), indicator.NewATR(n), indicator.NewKAMA(n)
		macd, adx := indicator.NewMACD(n, n+1, n), indicator.NewADX(n)
		keltner, stops := indicator.NewKeltner(n, n, 2), indicator.NewChandelier(n, 2)
		for _, f := range append(figures(), made("EMA", 0, &ema, closing(ema.Push)),
			made("RSI", 0, &rsi, closing(rsi.Push)),
			made("ATR", 0, &atr, atr.Push), made("KAMA", 0, &kama, closing(kama.Push)),
			made("MACD", 0, &macd, closing(macd.Push)), made("ADX", 0, &adx, adx.Push),
			made("Keltner", 0, &keltner, keltner.Push), made("Chandelier", 0, &stops, stops.Push)) {
			for i := range f.warmup {
				f.push(all[i])
			}
			require.True(t, f.ready() || f.name == "Since{}", "%s %d", f.name, n)
		}
	}
}

// The same for an average of an average: what is left of the start is in either.
func TestTheWarmupOfAnAverageOfAveragesCountsBoth(t *testing.T) {
	pushes := func(inner, outer float64) (count int) {
		in, out := []float64{1}, 1.0
		for count = 0; out >= 0.001; count++ {
			next := in[len(in)-1] * (1 - inner)
			in = append(in, next)
			out = out*(1-outer) + next*outer
		}
		return count
	}
	for _, n := range []int{1, 2, 5, 14, 40} {
		adx, macd := indicator.NewADX(n), indicator.NewMACD(n, 2*n, n)
		require.Equal(t, 1+pushes(1/float64(n), 1/float64(n)), adx.Warmup(), n)
		require.Equal(t, pushes(2/float64(2*n+1), 2/float64(n+1)), macd.Warmup(), n)
		dema := indicator.NewDEMA(n)
		require.Equal(t, pushes(2/float64(n+1), 2/float64(n+1)), dema.Warmup(), n)
	}
}

// reachOf is the distance between the highest and the lowest value of each line of a figure.
func reachOf(f figure, all []market.Candle) (reach []float64) {
	var low, high []float64
	for _, c := range all {
		if f.push(c); !f.ready() {
			continue
		}
		now := f.values()
		if low == nil {
			low, high = slices.Clone(now), slices.Clone(now)
		}
		for v, x := range now {
			low[v], high[v] = min(low[v], x), max(high[v], x)
		}
	}
	for v := range low {
		reach = append(reach, high[v]-low[v])
	}
	return reach
}

func TestHalfAWarmupIsNotEnoughToForget(t *testing.T) {
	all := walk(4000)
	early, late := figures(), figures()
	for i := range early {
		if early[i].kind != windowed && early[i].kind != exponential {
			continue
		}
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
	for range 30 * 14 {
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
	require.PanicsWithValue(t, "indicator: a PPO of averages over 26 and 12 values",
		func() { indicator.NewPPO(26, 12, 9) })
}
