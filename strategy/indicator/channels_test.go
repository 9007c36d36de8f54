package indicator_test

import (
	"slices"
	"testing"

	talib "github.com/markcheno/go-talib"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// Figures of the highest and the lowest of a window: as figures, in a textbook's words, and beside
// TA-Lib.

func channels() []figure {
	aroon, williams, stoch := indicator.NewAroon(25), indicator.NewWilliamsR(14), indicator.NewStochRSI(14, 14, 3, 3)
	chart, swings := indicator.NewIchimoku(9, 26, 52), indicator.NewSwings(5, 2)
	return []figure{
		made("NewAroon(25)", windowed, &aroon, aroon.Push, aroon.Up, aroon.Down, aroon.Value),
		made("NewWilliamsR(14)", windowed, &williams, williams.Push, williams.Value),
		made("NewStochRSI(14, 14, 3, 3)", exponential, &stoch, closing(stoch.Push), stoch.Value, stoch.Signal),
		made("NewIchimoku(9, 26, 52)", windowed, &chart, chart.Push, level(chart.Tenkan), level(chart.Kijun),
			level(chart.SpanA), level(chart.SpanB), level(chart.LeadA), level(chart.LeadB)),
		made("NewSwings(5, 2)", event, &swings, swings.Push, price(swings.High), price(swings.Low)),
	}
}

func middle(window []market.Candle) float64 {
	high, low := extremes(window)
	return (float64(high) + float64(low)) / 2
}

// pivot is 0, or the extreme in the middle of a window: each candle before it is at most as high,
// and each after it is lower.
func pivot(window []market.Price, before int) float64 {
	for i, p := range window {
		if i < before && p > window[before] || i > before && p >= window[before] {
			return 0
		}
	}
	return float64(window[before])
}

func textbookChannels(n, m int) []textbook {
	aroon, williams, stoch := indicator.NewAroon(n), indicator.NewWilliamsR(n), indicator.NewStochRSI(n, m, 2, 3)
	chart, swings := indicator.NewIchimoku(m, n, n+m), indicator.NewSwings(n, m)
	return []textbook{
		{"Aroon", n + 1, made("", 0, &aroon, aroon.Push, aroon.Up, aroon.Down, aroon.Value),
			func(all []market.Candle) []float64 {
				window := last(all, n+1)
				high, low := extremes(window)
				up, down := 0.0, 0.0
				for i, c := range window {
					if c.High == high {
						up = 100 * float64(i) / float64(n)
					}
					if c.Low == low {
						down = 100 * float64(i) / float64(n)
					}
				}
				return []float64{up, down, up - down}
			}, hundred},
		{"WilliamsR", n, made("", 0, &williams, williams.Push, williams.Value), func(all []market.Candle) []float64 {
			return []float64{places(all, n, 1)[0] - 100}
		}, hundred},
		{"StochRSI", n + m + 3, made("", 0, &stoch, closing(stoch.Push)), func([]market.Candle) []float64 {
			return nil // its twin is below: it divides by differences of roundings
		}, nil},
		{"Ichimoku", n + m + n - 1, made("", 0, &chart, chart.Push, level(chart.Tenkan), level(chart.Kijun),
			level(chart.SpanA), level(chart.SpanB), level(chart.LeadA), level(chart.LeadB)),
			func(all []market.Candle) []float64 {
				lines := func(all []market.Candle) (tenkan, kijun, a, b float64) {
					tenkan, kijun = middle(last(all, m)), middle(last(all, n))
					return tenkan, kijun, (tenkan + kijun) / 2, middle(last(all, n+m))
				}
				tenkan, kijun, leadA, leadB := lines(all)
				_, _, a, b := lines(all[:len(all)-n+1])
				return []float64{tenkan, kijun, a, b, leadA, leadB}
			}, nil},
		{"Swings", n + m + 1, made("", 0, &swings, swings.Push, price(swings.High), price(swings.Low)),
			func(all []market.Candle) []float64 {
				var highs, lows []market.Price
				for _, c := range last(all, n+m+1) {
					highs, lows = append(highs, c.High), append(lows, -c.Low)
				}
				return []float64{pivot(highs, n), -pivot(lows, n)}
			}, nil},
	}
}

func comparedChannels(c columns) []compared {
	aroon, williams, stoch := indicator.NewAroon(25), indicator.NewWilliamsR(14), indicator.NewStochRSI(14, 14, 1, 3)
	down, up := talib.Aroon(c.high, c.low, 25)
	k, d := talib.StochRsi(c.close, 14, 14, 3, talib.SMA)
	return []compared{
		{made("Aroon", 0, &aroon, aroon.Push, aroon.Up, aroon.Down, aroon.Value), 25, [][]float64{up, down,
			talib.AroonOsc(c.high, c.low, 25)}},
		{made("WilliamsR", 0, &williams, williams.Push, williams.Value), 13,
			[][]float64{talib.WillR(c.high, c.low, c.close, 14)}},
		{made("StochRSI", 0, &stoch, closing(stoch.Push), stoch.Value, stoch.Signal), 29, [][]float64{k, d}},
	}
}

// The same RSI, whose place is computed anew from its whole window: no digit may differ.
func TestStochRSIIsTheStochasticOfTheRSI(t *testing.T) {
	rsi, stoch := indicator.NewRSI(7), indicator.NewStochRSI(7, 5, 1, 1)
	var values []float64
	for _, c := range walk(2000) {
		rsi.Push(c.Close)
		if stoch.Push(c.Close); !rsi.Ready() {
			continue
		}
		if values = append(values, rsi.Value()); len(values) < 5 {
			require.False(t, stoch.Ready())
			continue
		}
		window, want := values[len(values)-5:], 50.0
		if low, high := slices.Min(window), slices.Max(window); high > low {
			want = 100 * ((window[4] - low) / (high - low))
		}
		require.InDelta(t, want, stoch.Value(), 1e-9)
	}
	still := indicator.NewStochRSI(2, 2, 1, 1)
	for range 10 {
		still.Push(100)
	}
	require.Equal(t, 50.0, still.Value())
}
