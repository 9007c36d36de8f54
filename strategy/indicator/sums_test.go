package indicator_test

import (
	"math"

	talib "github.com/markcheno/go-talib"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// Oscillators and flows: as figures, in a textbook's words, and beside TA-Lib.

func oscillators() []figure {
	cmo, awesome, vortex := indicator.NewCMO(9), indicator.NewAwesome(5, 34), indicator.NewVortex(14)
	ultimate, tsi := indicator.NewUltimate(7, 14, 28), indicator.NewTSI(25, 13)
	line, chaikin, cmf := indicator.NewAccDist(), indicator.NewChaikin(3, 10), indicator.NewCMF(20)
	return []figure{
		made("NewCMO(9)", windowed, &cmo, closing(cmo.Push), cmo.Value),
		made("NewAwesome(5, 34)", windowed, &awesome, awesome.Push, awesome.Value),
		made("NewVortex(14)", windowed, &vortex, vortex.Push, vortex.Plus, vortex.Minus),
		made("NewUltimate(7, 14, 28)", windowed, &ultimate, ultimate.Push, ultimate.Value),
		made("NewTSI(25, 13)", exponential, &tsi, closing(tsi.Push), tsi.Value),
		made("NewAccDist()", endless, &line, line.Push, line.Value),
		made("NewChaikin(3, 10)", exponential, &chaikin, chaikin.Push, chaikin.Value),
		made("NewCMF(20)", windowed, &cmf, cmf.Push, cmf.Value),
	}
}

// over is Σ a ÷ Σ b of the last n candles, each with the one before it; 0 where that is 0 ÷ 0.
func over(all []market.Candle, n int, a, b func(c, before market.Candle) float64) float64 {
	above, below := 0.0, 0.0
	for i := len(all) - n; i < len(all); i++ {
		above, below = above+a(all[i], all[i-1]), below+b(all[i], all[i-1])
	}
	if below == 0 {
		return 0
	}
	return above / below
}

func reachOfBoth(c, before market.Candle) float64 { return ranges([]market.Candle{before, c})[1] }

// flows are the volumes, weighted by the place of the close: −1 at the low, 1 at the high.
func flows(all []market.Candle) (list []float64) {
	for _, c := range all {
		weight := 0.0
		if c.High > c.Low {
			weight = 2*float64(c.Close-c.Low)/float64(c.High-c.Low) - 1
		}
		list = append(list, weight*float64(c.Volume))
	}
	return list
}

// sums are the sums up to each element.
func sums(xs []float64) (list []float64) {
	total := 0.0
	for _, x := range xs {
		total += x
		list = append(list, total)
	}
	return list
}

func traded(all []market.Candle) (total float64) {
	for _, c := range all {
		total += float64(c.Volume)
	}
	return total
}

func hundred([]market.Candle) float64 { return 100 }

func textbookOscillators(n, m int) []textbook {
	cmo, awesome, vortex := indicator.NewCMO(n), indicator.NewAwesome(m, n), indicator.NewVortex(n)
	ultimate, tsi := indicator.NewUltimate(m, n, n+m), indicator.NewTSI(n, m)
	return []textbook{
		{"CMO", n + 1, made("", 0, &cmo, closing(cmo.Push), cmo.Value), func(all []market.Candle) []float64 {
			move := func(c, before market.Candle) float64 { return float64(c.Close - before.Close) }
			size := func(c, before market.Candle) float64 { return math.Abs(move(c, before)) }
			return []float64{100 * over(all, n, move, size)}
		}, hundred},
		{"Awesome", max(m, n), made("", 0, &awesome, awesome.Push, awesome.Value),
			func(all []market.Candle) []float64 {
				var middles []float64
				for i := range all {
					middles = append(middles, middle(all[i:i+1]))
				}
				return []float64{mean(middles[len(all)-m:]) - mean(middles[len(all)-n:])}
			}, highest},
		{"Vortex", n + 1, made("", 0, &vortex, vortex.Push, vortex.Plus, vortex.Minus),
			func(all []market.Candle) []float64 {
				up := func(c, before market.Candle) float64 { return math.Abs(float64(c.High - before.Low)) }
				down := func(c, before market.Candle) float64 { return math.Abs(float64(c.Low - before.High)) }
				return []float64{over(all, n, up, reachOfBoth), over(all, n, down, reachOfBoth)}
			}, nil},
		{"Ultimate", n + m + 1, made("", 0, &ultimate, ultimate.Push, ultimate.Value),
			func(all []market.Candle) []float64 {
				pressure := func(c, before market.Candle) float64 {
					return float64(c.Close) - math.Min(float64(c.Low), float64(before.Close))
				}
				of := func(n int) float64 { return over(all, n, pressure, reachOfBoth) }
				return []float64{100 * (4*of(m) + 2*of(n) + of(n+m)) / 7}
			}, hundred},
		{"TSI", n + m, made("", 0, &tsi, closing(tsi.Push), tsi.Value), func(all []market.Candle) []float64 {
			var moves, sizes []float64
			for i, x := range closes(all[1:]) {
				moves = append(moves, x-float64(all[i].Close))
				sizes = append(sizes, math.Abs(moves[i]))
			}
			size := final(eachEMA(eachEMA(sizes, n), m))
			if size <= 1e-9*float64(all[len(all)-1].Close) {
				return []float64{0}
			}
			return []float64{100 * final(eachEMA(eachEMA(moves, n), m)) / size}
		}, func([]market.Candle) float64 { return 1e4 }}, // the averages of a large price cancel out
	}
}

func textbookFlows(n, m int) []textbook {
	line, chaikin, cmf := indicator.NewAccDist(), indicator.NewChaikin(m, n), indicator.NewCMF(n)
	return []textbook{
		{"AccDist", 1, made("", 0, &line, line.Push, line.Value), func(all []market.Candle) []float64 {
			return []float64{final(sums(flows(all)))}
		}, traded},
		{"Chaikin", max(m, n), made("", 0, &chaikin, chaikin.Push, chaikin.Value),
			func(all []market.Candle) []float64 {
				line := sums(flows(all))
				return []float64{final(eachEMA(line, m)) - final(eachEMA(line, n))}
			}, traded},
		{"CMF", n, made("", 0, &cmf, cmf.Push, cmf.Value), func(all []market.Candle) []float64 {
			window := last(all, n)
			if traded(window) == 0 {
				return []float64{0}
			}
			return []float64{final(sums(flows(window))) / traded(window)}
		}, nil},
	}
}

func comparedOscillators(c columns) []compared {
	ultimate, awesome := indicator.NewUltimate(7, 14, 28), indicator.NewAwesome(5, 34)
	line, chaikin := indicator.NewAccDist(), indicator.NewChaikin(3, 10)
	middles := talib.MedPrice(c.high, c.low)
	return []compared{
		{made("Ultimate", 0, &ultimate, ultimate.Push, ultimate.Value), 28,
			[][]float64{talib.UltOsc(c.high, c.low, c.close, 7, 14, 28)}},
		{made("Awesome", 0, &awesome, awesome.Push, awesome.Value), 33,
			[][]float64{plus(talib.Sma(middles, 5), -1, talib.Sma(middles, 34))}},
		{made("AccDist", 0, &line, line.Push, line.Value), 0, [][]float64{talib.Ad(c.high, c.low, c.close, c.volume)}},
		{made("Chaikin", 0, &chaikin, chaikin.Push, chaikin.Value), forgets,
			[][]float64{talib.AdOsc(c.high, c.low, c.close, c.volume, 3, 10)}},
	}
}
