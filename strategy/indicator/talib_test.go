package indicator_test

import (
	"math"
	"slices"
	"testing"

	talib "github.com/markcheno/go-talib"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// columns are candles the way TA-Lib wants them.
type columns struct{ open, high, low, close, volume []float64 }

func columnsOf(all []market.Candle) (c columns) {
	for _, x := range all {
		c.open, c.high = append(c.open, float64(x.Open)), append(c.high, float64(x.High))
		c.low, c.close = append(c.low, float64(x.Low)), append(c.close, float64(x.Close))
		c.volume = append(c.volume, float64(x.Volume))
	}
	return c
}

// compared is an indicator beside the lines that TA-Lib has for it.
type compared struct {
	made  figure
	from  int // the first element that is compared: later than Ready where the seeds differ
	lines [][]float64
}

// forgets is a number of candles after which no seed is left in 1e-9.
const forgets = 1000

// Where our seed is that of TA-Lib, all is equal from the first figure on. MACD, ADX and ATR begin
// otherwise (docs/indicators.md) and are compared when the start is forgotten.
func TestIndicatorsEqualThoseOfTALib(t *testing.T) {
	all := walk(3000)[:1500]
	c := columnsOf(all)
	for _, x := range slices.Concat(comparedAverages(c), comparedTrends(c), comparedOthers(c), comparedChains(c),
		comparedChannels(c), comparedOscillators(c), comparedCandles(c)) {
		t.Run(x.made.name, func(t *testing.T) {
			for i := range all {
				if x.made.push(all[i]); i < x.from {
					require.False(t, x.made.ready() && x.from < forgets, "ready at element %d", i)
					continue
				}
				require.True(t, x.made.ready())
				for v, have := range x.made.values() {
					want := x.lines[v][i]
					require.LessOrEqual(t, math.Abs(want-have), 1e-8*max(1, math.Abs(want)),
						"line %d at element %d: want %v, have %v", v, i, want, have)
				}
			}
		})
	}
}

// plus is a + k·b, by element.
func plus(a []float64, k float64, b []float64) (c []float64) {
	for i := range a {
		c = append(c, a[i]+k*b[i])
	}
	return c
}

func comparedAverages(c columns) []compared {
	sma, ema, wma, hma := indicator.NewSMA(20), indicator.NewEMA(20), indicator.NewWMA(20), indicator.NewHMA(16)
	kama, bollinger := indicator.NewKAMA(10), indicator.NewBollinger(20, 2)
	upper, middle, lower := talib.BBands(c.close, 20, 2, 2, talib.SMA)
	return []compared{
		{made("SMA", 0, &sma, closing(sma.Push), sma.Value), 19, [][]float64{talib.Sma(c.close, 20)}},
		{made("EMA", 0, &ema, closing(ema.Push), ema.Value), 19, [][]float64{talib.Ema(c.close, 20)}},
		{made("WMA", 0, &wma, closing(wma.Push), wma.Value), 19, [][]float64{talib.Wma(c.close, 20)}},
		{made("HMA", 0, &hma, closing(hma.Push), hma.Value), 18, [][]float64{
			talib.Wma(plus(plus(talib.Wma(c.close, 8), 1, talib.Wma(c.close, 8)), -1, talib.Wma(c.close, 16)), 4)}},
		{made("KAMA", 0, &kama, closing(kama.Push), kama.Value), 10, [][]float64{talib.Kama(c.close, 10)}},
		{made("Bollinger", 0, &bollinger, closing(bollinger.Push), level(bollinger.Lower), level(bollinger.Middle),
			level(bollinger.Upper)), 19, [][]float64{lower, middle, upper}},
	}
}

func comparedTrends(c columns) []compared {
	macd, adx, atr := indicator.NewMACD(12, 26, 9), indicator.NewADX(14), indicator.NewATR(14)
	keltner, stops := indicator.NewKeltner(20, 10, 2), indicator.NewChandelier(22, 3)
	regression, slope, roc := indicator.NewRegression(20), indicator.NewSlope(5), indicator.NewROC(10)
	value, signal, histogram := talib.Macd(c.close, 12, 26, 9)
	ema, reach, far := talib.Ema(c.close, 20), talib.Atr(c.high, c.low, c.close, 10), talib.Atr(c.high, c.low, c.close,
		22)
	five := make([]float64, len(c.close))
	return []compared{
		{made("MACD", 0, &macd, closing(macd.Push), macd.Value, macd.Signal, macd.Histogram), forgets,
			[][]float64{value, signal, histogram}},
		{made("ADX", 0, &adx, adx.Push, adx.Value, adx.Plus, adx.Minus), forgets, [][]float64{
			talib.Adx(c.high, c.low, c.close, 14), talib.PlusDI(c.high, c.low, c.close, 14),
			talib.MinusDI(c.high, c.low, c.close, 14)}},
		{made("ATR", 0, &atr, atr.Push, atr.Value), forgets, [][]float64{talib.Atr(c.high, c.low, c.close, 14)}},
		{made("Keltner", 0, &keltner, keltner.Push, level(keltner.Lower), level(keltner.Middle), level(keltner.Upper)),
			forgets, [][]float64{plus(ema, -2, reach), ema, plus(ema, 2, reach)}},
		{made("Chandelier", 0, &stops, stops.Push, level(stops.Long), level(stops.Short)), forgets,
			[][]float64{plus(talib.Max(c.high, 22), -3, far), plus(talib.Min(c.low, 22), 3, far)}},
		{made("Regression", 0, &regression, closing(regression.Push), regression.Value, regression.Slope), 19,
			[][]float64{talib.LinearReg(c.close, 20), talib.LinearRegSlope(c.close, 20)}},
		{made("Slope", 0, &slope, closing(func(p market.Price) { slope.Push(float64(p)) }), slope.Value), 5,
			[][]float64{plus(five, 1.0/5, talib.Mom(c.close, 5))}},
		{made("ROC", 0, &roc, closing(roc.Push), roc.Value), 10, [][]float64{talib.Roc(c.close, 10)}},
	}
}

func comparedOthers(c columns) []compared {
	rsi, stochastic, cci := indicator.NewRSI(14), indicator.NewStochastic(14, 3, 3), indicator.NewCCI(20)
	mfi, obv, channel := indicator.NewMFI(14), indicator.NewOBV(), indicator.NewDonchian(20)
	highest, lowest, deviation := indicator.NewHighest(20), indicator.NewLowest(20), indicator.NewStdDev(20)
	correlation := indicator.NewCorrelation(20)
	k, d := talib.Stoch(c.high, c.low, c.close, 14, 3, talib.SMA, 3, talib.SMA)
	top, bottom := talib.Max(c.close, 20), talib.Min(c.close, 20)
	return []compared{
		{made("RSI", 0, &rsi, closing(rsi.Push), rsi.Value), 14, [][]float64{talib.Rsi(c.close, 14)}},
		{made("Stochastic", 0, &stochastic, stochastic.Push, stochastic.Value, stochastic.Signal), 17,
			[][]float64{k, d}},
		{made("CCI", 0, &cci, cci.Push, cci.Value), 19, [][]float64{talib.Cci(c.high, c.low, c.close, 20)}},
		{made("MFI", 0, &mfi, mfi.Push, mfi.Value), 14, [][]float64{talib.Mfi(c.high, c.low, c.close, c.volume, 14)}},
		{made("OBV", 0, &obv, obv.Push, obv.Value), 0, [][]float64{talib.Obv(c.close, c.volume)}},
		{made("Donchian", 0, &channel, channel.Push, price(channel.Low), price(channel.High)), 19,
			[][]float64{talib.Min(c.low, 20), talib.Max(c.high, 20)}},
		{made("Highest", 0, &highest, closing(highest.Push), highest.Value), 19, [][]float64{top}},
		{made("Lowest", 0, &lowest, closing(lowest.Push), lowest.Value), 19, [][]float64{bottom}},
		{made("StdDev", 0, &deviation, closing(deviation.Push), deviation.Value), 19,
			[][]float64{talib.StdDev(c.close, 20, 1)}},
		{made("Correlation", 0, &correlation,
			func(c market.Candle) { correlation.Push(c.High, market.Price(c.Volume)) },
			correlation.Value), 19, [][]float64{talib.Correl(c.high, c.volume, 20)}},
	}
}
