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

// The twins compute each figure anew from the whole history, the way a textbook writes it.

const close9 = 1e-9

func near(t require.TestingT, want, have float64, what string) {
	require.LessOrEqual(t, math.Abs(want-have), close9*max(1, math.Abs(want)), "%s: want %v, have %v", what, want, have)
}

// candles draws a walk with jumps, gaps, still stretches and candles without volume.
func candles(t *rapid.T, atLeast int) []market.Candle {
	count := rapid.IntRange(atLeast, atLeast+80).Draw(t, "count")
	price := rapid.Int64Range(1_000, 1_000_000_000_000).Draw(t, "start")
	all := make([]market.Candle, count)
	for i := range all {
		step := price / 100
		open := max(1, price+rapid.SampledFrom([]int64{0, 0, step, -step}).Draw(t, "gap"))
		price = max(1, price+rapid.Int64Range(-step, step).Draw(t, "move"))
		high := max(open, price) + rapid.Int64Range(0, step).Draw(t, "up")
		low := max(1, min(open, price)-rapid.Int64Range(0, step).Draw(t, "down"))
		volume := max(0, rapid.Int64Range(-10, 1_000_000).Draw(t, "volume"))
		all[i] = market.Candle{Open: market.Price(open), High: market.Price(high), Low: market.Price(low),
			Close: market.Price(price), Volume: market.Volume(volume), Start: hour(i), Interval: market.Interval1h}
	}
	return all
}

func closes(all []market.Candle) []float64 {
	prices := make([]float64, len(all))
	for i := range all {
		prices[i] = float64(all[i].Close)
	}
	return prices
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x / float64(len(xs))
	}
	return sum
}

// recursive is seed = mean of the first n, then old·(1−weight) + new·weight.
func recursive(xs []float64, n int, weight float64) float64 {
	value := mean(xs[:n])
	for _, x := range xs[n:] {
		value = value*(1-weight) + x*weight
	}
	return value
}

// eachPrefix calls with every prefix of at least n candles.
func eachPrefix(all []market.Candle, n int, check func(seen []market.Candle)) {
	for end := n; end <= len(all); end++ {
		check(all[:end])
	}
}

func TestSMAEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		sma := indicator.NewSMA(n)
		for i, all := 0, candles(t, n); i < len(all); i++ {
			require.Equal(t, i >= n, sma.Ready())
			sma.Push(all[i].Close)
			want := market.Price(0)
			for _, c := range all[max(0, i-n+1) : i+1] {
				want += c.Close
			}
			require.Equal(t, want, sma.Sum())
			near(t, float64(want)/float64(n), sma.Value(), "average")
		}
	})
}

func TestEMAEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		all := candles(t, n)
		ema := indicator.NewEMA(n)
		pushed := 0
		eachPrefix(all, n, func(seen []market.Candle) {
			require.False(t, pushed < n && ema.Ready())
			for ; pushed < len(seen); pushed++ {
				ema.Push(seen[pushed].Close)
			}
			require.True(t, ema.Ready())
			near(t, recursive(closes(seen), n, 2/float64(n+1)), ema.Value(), "ema")
		})
	})
}

func TestRSIEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		all := candles(t, n+1)
		rsi := indicator.NewRSI(n)
		var gains, losses []float64
		for i := range all {
			require.Equal(t, i > n, rsi.Ready())
			rsi.Push(all[i].Close)
			if i == 0 {
				continue
			}
			move := float64(all[i].Close - all[i-1].Close)
			gains, losses = append(gains, max(move, 0)), append(losses, max(-move, 0))
			if i < n {
				continue
			}
			gain, loss := recursive(gains, n, 1/float64(n)), recursive(losses, n, 1/float64(n))
			if gain+loss > 1e-6*float64(all[i].Close) {
				near(t, 100-100/(1+gain/loss), rsi.Value(), "rsi")
			}
		}
	})
}

func TestATREqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		all := candles(t, n)
		atr := indicator.NewATR(n)
		var ranges []float64
		for i, c := range all {
			atr.Push(all[i])
			reach := float64(c.High - c.Low)
			if i > 0 {
				before := float64(all[i-1].Close)
				reach = slices.Max([]float64{reach, math.Abs(float64(c.High) - before),
					math.Abs(float64(c.Low) - before)})
			}
			ranges = append(ranges, reach)
			require.Equal(t, i >= n-1, atr.Ready())
			if i >= n-1 {
				near(t, recursive(ranges, n, 1/float64(n)), atr.Value(), "atr")
			}
		}
	})
}

// variance is exact: Σ(n·x−Σx)² ÷ n³ in rationals.
func variance(window []market.Candle) float64 {
	n, sum := int64(len(window)), new(big.Int)
	for _, c := range window {
		sum.Add(sum, big.NewInt(int64(c.Close)))
	}
	squares := new(big.Int)
	for _, c := range window {
		off := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(c.Close))), sum)
		squares.Add(squares, off.Mul(off, off))
	}
	result, _ := new(big.Rat).SetFrac(squares, big.NewInt(n*n*n)).Float64()
	return result
}

func TestStdDevAndBollingerEqualTheirTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		k := rapid.Float64Range(0, 4).Draw(t, "k")
		deviation, band := indicator.NewStdDev(n), indicator.NewBollinger(n, k)
		all := candles(t, n)
		for i := range all {
			deviation.Push(all[i].Close)
			band.Push(all[i].Close)
			require.Equal(t, i >= n-1, deviation.Ready())
			require.Equal(t, i >= n-1, band.Ready())
			if i < n-1 {
				continue
			}
			window := all[i-n+1 : i+1]
			sd, middle := math.Sqrt(variance(window)), mean(closes(window))
			near(t, sd, deviation.Value(), "deviation")
			near(t, middle, band.Middle().Value(), "middle")
			near(t, middle+k*sd, band.Upper().Value(), "upper")
			near(t, middle-k*sd, band.Lower().Value(), "lower")
		}
	})
}

func TestDonchianEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		channel := indicator.NewDonchian(n)
		for i, all := 0, candles(t, n); i < len(all); i++ {
			require.Equal(t, i >= n, channel.Ready())
			channel.Push(all[i])
			high, low := all[i].High, all[i].Low
			for _, c := range all[max(0, i-n+1) : i+1] {
				high, low = max(high, c.High), min(low, c.Low)
			}
			require.Equal(t, high, channel.High())
			require.Equal(t, low, channel.Low())
			near(t, float64(high)/2+float64(low)/2, channel.Middle().Value(), "middle")
		}
	})
}

func TestVWAPEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		vwap := indicator.NewVWAP(n)
		for i, all := 0, candles(t, n); i < len(all); i++ {
			vwap.Push(all[i])
			value, volume := new(big.Int), new(big.Int)
			for _, c := range all[max(0, i-n+1) : i+1] {
				price3, traded := big.NewInt(int64(c.High+c.Low+c.Close)), big.NewInt(int64(c.Volume))
				value.Add(value, price3.Mul(price3, traded))
				volume.Add(volume, traded)
			}
			require.Equal(t, i >= n-1 && volume.Sign() > 0, vwap.Ready())
			if volume.Sign() == 0 {
				require.Zero(t, vwap.Value())
				continue
			}
			want, _ := new(big.Rat).SetFrac(value, volume.Mul(volume, big.NewInt(3))).Float64()
			near(t, want, vwap.Value(), "vwap")
		}
	})
}
