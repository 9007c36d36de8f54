package indicator_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// textbook is an indicator beside the textbook's way to compute it: from the whole history, anew at
// each candle.
type textbook struct {
	name  string
	least int // candles after which it is ready
	made  figure
	// lines are the same figures from all candles so far, of which there are at least `least`
	lines func(all []market.Candle) []float64
	// scale is what the figures are parts of: their roundings are relative to it; nil: they
	// themselves
	scale func(all []market.Candle) float64
}

func drawn(t *rapid.T) []textbook {
	n := rapid.IntRange(2, 30).Draw(t, "n")
	m := rapid.IntRange(1, 10).Draw(t, "m")
	k := rapid.Float64Range(0, 4).Draw(t, "k")
	return slices.Concat(textbookAverages(n), textbookTrends(n, m, k), textbookMomenta(n, m), textbookBands(n, m, k),
		textbookOthers(n), textbookChains(n, m), textbookChannels(n, m),
		textbookOscillators(n, m), textbookFlows(n, m), textbookCandles(n))
}

func TestEachIndicatorEqualsItsTextbook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := candles(t, 1)
		for _, x := range drawn(t) {
			for i := range all {
				x.made.push(all[i])
				require.Equal(t, i+1 >= x.least, x.made.ready(), "%s after %d candles", x.name, i+1)
				if i+1 < x.least {
					continue
				}
				want, have, scale := x.lines(all[:i+1]), x.made.values(), 1.0
				if x.scale != nil {
					scale = x.scale(all[:i+1])
				}
				for v := range want {
					require.LessOrEqual(t, math.Abs(want[v]-have[v]), 1e-9*max(scale, math.Abs(want[v])),
						"%s, line %d after %d candles: want %v, have %v", x.name, v, i+1, want[v], have[v])
				}
			}
		}
	})
}

// highest is the scale of figures that are differences of prices.
func highest(all []market.Candle) float64 {
	top := 0.0
	for _, c := range all {
		top = max(top, float64(c.High))
	}
	return top
}

func last(all []market.Candle, n int) []market.Candle { return all[len(all)-n:] }

func ratio(a, b *big.Int) float64 {
	if b.Sign() == 0 {
		return 0
	}
	x, _ := new(big.Rat).SetFrac(a, b).Float64()
	return x
}

func integer[T ~int64 | ~int](x T) *big.Int { return big.NewInt(int64(x)) }

// sum is Σ a·b, exactly.
func sum(n int, a, b func(i int) int64) *big.Int {
	total := new(big.Int)
	for i := range n {
		total.Add(total, new(big.Int).Mul(big.NewInt(a(i)), big.NewInt(b(i))))
	}
	return total
}

func one(int) int64 { return 1 }

func triangular(xs []float64) float64 {
	total, weights := 0.0, 0.0
	for i, x := range xs {
		total += float64(i+1) * x
		weights += float64(i + 1)
	}
	return total / weights
}

func textbookAverages(n int) []textbook {
	wma, hma, kama := indicator.NewWMA(n), indicator.NewHMA(n), indicator.NewKAMA(n)
	root := int(math.Sqrt(float64(n)))
	return []textbook{
		{"WMA", n, made("", 0, &wma, closing(wma.Push), wma.Value), func(all []market.Candle) []float64 {
			return []float64{triangular(closes(last(all, n)))}
		}, nil},
		{"HMA", n + root - 1, made("", 0, &hma, closing(hma.Push), hma.Value),
			func(all []market.Candle) []float64 {
				var raw []float64
				for end := len(all) - root + 1; end <= len(all); end++ {
					raw = append(raw, 2*triangular(closes(last(all[:end], n/2)))-triangular(closes(last(all[:end], n))))
				}
				return []float64{triangular(raw)}
			}, highest},
		{"KAMA", n + 1, made("", 0, &kama, closing(kama.Push), kama.Value), func(all []market.Candle) []float64 {
			xs := closes(all)
			value := xs[n-1]
			for i := n; i < len(xs); i++ {
				moves, efficiency := 0.0, 1.0
				for j := i - n + 1; j <= i; j++ {
					moves += math.Abs(xs[j] - xs[j-1])
				}
				if moves > 0 {
					efficiency = math.Abs(xs[i]-xs[i-n]) / moves
				}
				value += math.Pow(efficiency*(2.0/3-2.0/31)+2.0/31, 2) * (xs[i] - value)
			}
			return []float64{value}
		}, highest},
	}
}

func TestVWMAEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		vwma := indicator.NewVWMA(n)
		for i, all := 0, candles(t, n); i < len(all); i++ {
			vwma.Push(all[i])
			window := all[max(0, i-n+1) : i+1]
			volume := func(i int) int64 { return int64(window[i].Volume) }
			price := func(i int) int64 { return int64(window[i].Close) }
			traded := sum(len(window), volume, one)
			require.Equal(t, i >= n-1 && traded.Sign() > 0, vwma.Ready())
			near(t, ratio(sum(len(window), price, volume), traded), vwma.Value(), "vwma")
		}
	})
}

// averages over all prefixes: each is recursive over the values up to it.
func eachEMA(xs []float64, n int) (values []float64) {
	for end := n; end <= len(xs); end++ {
		values = append(values, recursive(xs[:end], n, 2/float64(n+1)))
	}
	return values
}

func ranges(all []market.Candle) (trs []float64) {
	for i, c := range all {
		reach := float64(c.High - c.Low)
		if i > 0 {
			before := float64(all[i-1].Close)
			reach = slices.Max([]float64{reach, math.Abs(float64(c.High) - before), math.Abs(float64(c.Low) - before)})
		}
		trs = append(trs, reach)
	}
	return trs
}

func atrOf(all []market.Candle, n int) float64 { return recursive(ranges(all), n, 1/float64(n)) }

func textbookTrends(n, m int, k float64) []textbook {
	macd, adx, super := indicator.NewMACD(n, n+m, m), indicator.NewADX(n), indicator.NewSupertrend(n, k)
	regression, slope := indicator.NewRegression(n), indicator.NewSlope(m)
	return []textbook{
		{"MACD", n + m + m - 1, made("", 0, &macd, closing(macd.Push), macd.Value, macd.Signal, macd.Histogram),
			func(all []market.Candle) []float64 {
				fast, slow := eachEMA(closes(all), n), eachEMA(closes(all), n+m)
				fast = fast[len(fast)-len(slow):]
				for i := range slow {
					slow[i] = fast[i] - slow[i]
				}
				value, signal := slow[len(slow)-1], recursive(slow, m, 2/float64(m+1))
				return []float64{value, signal, value - signal}
			}, highest},
		{"ADX", 2 * n, made("", 0, &adx, adx.Push, adx.Value, adx.Plus, adx.Minus),
			func(all []market.Candle) []float64 {
				return directional(all, n)
			}, hundred},
		{"Supertrend", n, made("", 0, &super, super.Push, super.Value), func(all []market.Candle) []float64 {
			return []float64{supertrend(all, n, k)}
		}, highest},
		{"Regression", n, made("", 0, &regression, closing(regression.Push), regression.Value, regression.Slope),
			func(all []market.Candle) []float64 {
				window := last(all, n)
				x, y := func(i int) int64 { return int64(i) }, func(i int) int64 { return int64(window[i].Close) }
				rise := new(big.Int).Mul(integer(n), sum(n, x, y))
				rise.Sub(rise, new(big.Int).Mul(sum(n, x, one), sum(n, y, one)))
				run := new(big.Int).Mul(integer(n), sum(n, x, x))
				run.Sub(run, new(big.Int).Mul(sum(n, x, one), sum(n, x, one)))
				slope := ratio(rise, run)
				return []float64{mean(closes(window)) + slope*float64(n-1)/2, slope}
			}, nil},
		{"Slope", m + 1, made("", 0, &slope, closing(func(p market.Price) { slope.Push(float64(p)) }), slope.Value),
			func(all []market.Candle) []float64 {
				return []float64{float64(all[len(all)-1].Close-all[len(all)-1-m].Close) / float64(m)}
			}, nil},
	}
}

func directional(all []market.Candle, n int) []float64 {
	var plus, minus, index []float64
	trs := ranges(all)[1:]
	share := func(x, of float64) float64 {
		if of == 0 {
			return 0
		}
		return 100 * x / of
	}
	var up, down float64
	for i := 1; i < len(all); i++ {
		rise, fall := float64(all[i].High-all[i-1].High), float64(all[i-1].Low-all[i].Low)
		plus, minus = append(plus, 0), append(minus, 0)
		if rise > fall && rise > 0 {
			plus[i-1] = rise
		}
		if fall > rise && fall > 0 {
			minus[i-1] = fall
		}
		if i >= n {
			reach := recursive(trs[:i], n, 1/float64(n))
			up, down = share(recursive(plus, n, 1/float64(n)), reach), share(recursive(minus, n, 1/float64(n)), reach)
			index = append(index, share(math.Abs(up-down), up+down))
		}
	}
	return []float64{recursive(index, n, 1/float64(n)), up, down}
}

func supertrend(all []market.Candle, n int, k float64) float64 {
	lower, upper, up := math.Inf(-1), math.Inf(1), false
	for i := n - 1; i < len(all); i++ {
		middle, reach := float64(all[i].High+all[i].Low)/2, k*atrOf(all[:i+1], n)
		before := math.NaN()
		if i >= n {
			before = float64(all[i-1].Close)
		}
		if low := middle - reach; low > lower || before < lower {
			lower = low
		}
		if high := middle + reach; high < upper || before > upper {
			upper = high
		}
		switch close := float64(all[i].Close); {
		case up && close < lower:
			up = false
		case !up && close > upper:
			up = true
		}
	}
	if up {
		return lower
	}
	return upper
}

func typical(c market.Candle) int64 { return int64(c.High + c.Low + c.Close) }

func textbookMomenta(n, m int) []textbook {
	stochastic, cci, roc := indicator.NewStochastic(n, m, 3), indicator.NewCCI(n), indicator.NewROC(n)
	mfi, obv := indicator.NewMFI(n), indicator.NewOBV()
	return []textbook{
		{"Stochastic", n + m + 1, made("", 0, &stochastic, stochastic.Push, stochastic.Value, stochastic.Signal),
			func(all []market.Candle) []float64 {
				var ks []float64
				for end := len(all) - 2; end <= len(all); end++ {
					ks = append(ks, mean(places(all[:end], n, m)))
				}
				return []float64{ks[2], mean(ks)}
			}, hundred},
		{"CCI", n, made("", 0, &cci, cci.Push, cci.Value), func(all []market.Candle) []float64 {
			window := last(all, n)
			total, apart := int64(0), int64(0)
			for _, c := range window {
				total += typical(c)
			}
			for _, c := range window {
				apart += max(int64(n)*typical(c)-total, total-int64(n)*typical(c))
			}
			off := int64(n)*typical(window[n-1]) - total
			return []float64{ratio(new(big.Int).Mul(integer(off), integer(1000*n)), new(big.Int).
				Mul(integer(15), integer(apart)))}
		}, nil},
		{"ROC", n + 1, made("", 0, &roc, closing(roc.Push), roc.Value), func(all []market.Candle) []float64 {
			return []float64{100 * (float64(all[len(all)-1].Close)/float64(all[len(all)-1-n].Close) - 1)}
		}, nil},
		{"MFI", n + 1, made("", 0, &mfi, mfi.Push, mfi.Value), func(all []market.Candle) []float64 {
			window := last(all, n+1)
			flow := func(sign int) *big.Int {
				return sum(n, func(i int) int64 {
					if integer(typical(window[i+1])-typical(window[i])).Sign() != sign {
						return 0
					}
					return typical(window[i+1])
				}, func(i int) int64 { return int64(window[i+1].Volume) })
			}
			up, both := flow(1), new(big.Int).Add(flow(1), flow(-1))
			if both.Sign() == 0 {
				return []float64{50}
			}
			return []float64{100 * ratio(up, both)}
		}, nil},
		{"OBV", 1, made("", 0, &obv, obv.Push, obv.Value), func(all []market.Candle) []float64 {
			total := all[0].Volume
			for i, c := range all[1:] {
				total += market.Volume(integer(c.Close-all[i].Close).Sign()) * c.Volume
			}
			return []float64{float64(total)}
		}, nil},
	}
}

// places are the last m places of a close in the range of its n candles.
func places(all []market.Candle, n, m int) (list []float64) {
	for end := len(all) - m + 1; end <= len(all); end++ {
		window, place := last(all[:end], n), 50.0
		high, low := extremes(window)
		if high > low {
			place = 100 * float64(window[n-1].Close-low) / float64(high-low)
		}
		list = append(list, place)
	}
	return list
}

func extremes(window []market.Candle) (high, low market.Price) {
	high, low = window[0].High, window[0].Low
	for _, c := range window {
		high, low = max(high, c.High), min(low, c.Low)
	}
	return high, low
}

func textbookBands(n, m int, k float64) []textbook {
	keltner, stops := indicator.NewKeltner(n, m, k), indicator.NewChandelier(n, k)
	top, bottom := indicator.NewHighest(n), indicator.NewLowest(n)
	return []textbook{
		{"Keltner", max(n, m), made("", 0, &keltner, keltner.Push, level(keltner.Lower), level(keltner.Middle),
			level(keltner.Upper)), func(all []market.Candle) []float64 {
			middle, reach := recursive(closes(all), n, 2/float64(n+1)), k*atrOf(all, m)
			return []float64{middle - reach, middle, middle + reach}
		}, highest},
		{"Chandelier", n, made("", 0, &stops, stops.Push, level(stops.Long), level(stops.Short)),
			func(all []market.Candle) []float64 {
				high, low := extremes(last(all, n))
				reach := k * atrOf(all, n)
				return []float64{float64(high) - reach, float64(low) + reach}
			}, highest},
		{"Highest", n, made("", 0, &top, closing(top.Push), top.Value, price(top.Price)),
			func(all []market.Candle) []float64 {
				high := slices.Max(closes(last(all, n)))
				return []float64{high, high}
			}, nil},
		{"Lowest", n, made("", 0, &bottom, closing(bottom.Push), bottom.Value, price(bottom.Price)),
			func(all []market.Candle) []float64 {
				low := slices.Min(closes(last(all, n)))
				return []float64{low, low}
			}, nil},
	}
}

func textbookOthers(n int) []textbook {
	score, rank, correlation := indicator.NewZScore(n), indicator.NewRank(n), indicator.NewCorrelation(n)
	batch := indicator.NewBatch(n, func(xs []float64) []float64 {
		average := mean(xs)
		slices.Sort(xs) // it may do what it likes with the slice
		return append(xs, average)
	})
	return []textbook{
		{"ZScore", n, made("", 0, &score, closing(score.Push), score.Value), func(all []market.Candle) []float64 {
			window := last(all, n)
			deviation := math.Sqrt(variance(window))
			if deviation == 0 {
				return []float64{0}
			}
			x := func(i int) int64 { return int64(window[i].Close - window[n-1].Close) }
			return []float64{-ratio(sum(n, x, one), integer(n)) / deviation}
		}, nil},
		{"Rank", n, made("", 0, &rank, closing(func(p market.Price) { rank.Push(float64(p / 1000)) }), rank.Value),
			func(all []market.Candle) []float64 {
				below := 0.0
				for _, c := range last(all, n)[:n-1] {
					switch now := all[len(all)-1].Close / 1000; {
					case c.Close/1000 < now:
						below++
					case c.Close/1000 == now:
						below += 0.5
					}
				}
				return []float64{100 * below / float64(n-1)}
			}, nil},
		{"Correlation", n, made("", 0, &correlation, func(c market.Candle) { correlation.Push(c.Close, c.Open-c.High) },
			correlation.Value), func(all []market.Candle) []float64 {
			window := last(all, n)
			return []float64{pearson(n, func(i int) int64 { return int64(window[i].Close) },
				func(i int) int64 { return int64(window[i].Open - window[i].High) })}
		}, nil},
		{"Batch", n, made("", 0, &batch, closing(func(p market.Price) { batch.Push(float64(p)) }), batch.Value),
			func(all []market.Candle) []float64 { return []float64{mean(closes(last(all, n)))} }, nil},
	}
}

func pearson(n int, x, y func(int) int64) float64 {
	spread := func(a, b func(int) int64) float64 {
		all := new(big.Int).Mul(integer(n), sum(n, a, b))
		all.Sub(all, new(big.Int).Mul(sum(n, a, one), sum(n, b, one)))
		result, _ := new(big.Float).SetInt(all).Float64()
		return result
	}
	if spread(x, x) == 0 || spread(y, y) == 0 {
		return 0
	}
	return spread(x, y) / math.Sqrt(spread(x, x)) / math.Sqrt(spread(y, y))
}

func TestLineCrossSaysWhatTheSignsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		signs := rapid.SliceOf(rapid.IntRange(-1, 1)).Draw(t, "first less second")
		var x indicator.LineCross
		for i, sign := range signs {
			want := indicator.Direction(0)
			if i > 0 && sign != 0 && signs[i-1] != sign {
				want = indicator.Direction(sign)
			}
			require.Equal(t, i > 0, x.Ready())
			require.Equal(t, want, x.Push(5+float64(sign), 5))
		}
	})
}

func TestSinceCountsFromTheLastTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := rapid.SliceOf(rapid.Bool()).Draw(t, "states")
		var since indicator.Since
		for i, now := range states {
			since.Push(now)
			want := i
			for want >= 0 && !states[want] {
				want--
			}
			require.Equal(t, want >= 0, since.Ready())
			if want >= 0 {
				require.Equal(t, i-want, since.Count())
			}
		}
	})
}
