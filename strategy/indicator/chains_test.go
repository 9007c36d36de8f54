package indicator_test

import (
	talib "github.com/markcheno/go-talib"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// RMA, and averages of averages: as figures, in a textbook's words, and beside TA-Lib.

func chains() []figure {
	rma, dema, tema := indicator.NewRMA(14), indicator.NewDEMA(20), indicator.NewTEMA(20)
	trix, ppo := indicator.NewTRIX(15), indicator.NewPPO(12, 26, 9)
	return []figure{
		made("NewRMA(14)", exponential, &rma, closing(rma.Push), rma.Value),
		made("NewDEMA(20)", exponential, &dema, closing(dema.Push), dema.Value),
		made("NewTEMA(20)", exponential, &tema, closing(tema.Push), tema.Value),
		made("NewTRIX(15)", exponential, &trix, closing(trix.Push), trix.Value),
		made("NewPPO(12, 26, 9)", exponential, &ppo, closing(ppo.Push), ppo.Value, ppo.Signal, ppo.Histogram),
	}
}

// chained is an EMA over n, an EMA of it, and so on.
func chained(xs []float64, n, times int) []float64 {
	for range times {
		xs = eachEMA(xs, n)
	}
	return xs
}

func final(xs []float64) float64 { return xs[len(xs)-1] }

func textbookChains(n, m int) []textbook {
	rma, dema, tema := indicator.NewRMA(n), indicator.NewDEMA(n), indicator.NewTEMA(n)
	trix, ppo := indicator.NewTRIX(n), indicator.NewPPO(n, n+m, m)
	return []textbook{
		{"RMA", n, made("", 0, &rma, closing(rma.Push), rma.Value), func(all []market.Candle) []float64 {
			return []float64{recursive(closes(all), n, 1/float64(n))}
		}, nil},
		{"DEMA", 2*n - 1, made("", 0, &dema, closing(dema.Push), dema.Value), func(all []market.Candle) []float64 {
			return []float64{2*final(chained(closes(all), n, 1)) - final(chained(closes(all), n, 2))}
		}, highest},
		{"TEMA", 3*n - 2, made("", 0, &tema, closing(tema.Push), tema.Value), func(all []market.Candle) []float64 {
			xs := closes(all)
			return []float64{3*final(chained(xs, n, 1)) - 3*final(chained(xs, n, 2)) + final(chained(xs, n, 3))}
		}, highest},
		{"TRIX", 3*n - 1, made("", 0, &trix, closing(trix.Push), trix.Value), func(all []market.Candle) []float64 {
			xs := chained(closes(all), n, 3)
			return []float64{100 * (final(xs)/xs[len(xs)-2] - 1)}
		}, hundred},
		{"PPO", n + m + m - 1, made("", 0, &ppo, closing(ppo.Push), ppo.Value, ppo.Signal, ppo.Histogram),
			func(all []market.Candle) []float64 {
				fast, slow := eachEMA(closes(all), n)[m:], eachEMA(closes(all), n+m)
				for i := range slow {
					slow[i] = 100 * (fast[i]/slow[i] - 1)
				}
				signal := recursive(slow, m, 2/float64(m+1))
				return []float64{final(slow), signal, final(slow) - signal}
			}, hundred},
	}
}

func comparedChains(c columns) []compared {
	dema, tema, trix := indicator.NewDEMA(20), indicator.NewTEMA(20), indicator.NewTRIX(15)
	ppo := indicator.NewPPO(12, 26, 1)
	return []compared{
		{made("DEMA", 0, &dema, closing(dema.Push), dema.Value), 38, [][]float64{talib.Dema(c.close, 20)}},
		{made("TEMA", 0, &tema, closing(tema.Push), tema.Value), 57, [][]float64{talib.Tema(c.close, 20)}},
		{made("TRIX", 0, &trix, closing(trix.Push), trix.Value), 43, [][]float64{talib.Trix(c.close, 15)}},
		{made("PPO", 0, &ppo, closing(ppo.Push), ppo.Value), 25, [][]float64{talib.Ppo(c.close, 12, 26, talib.EMA)}},
	}
}
