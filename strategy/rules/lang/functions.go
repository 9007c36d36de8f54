package lang

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// line is a result of a function: of its unit, or of a text.
type line struct {
	name string
	dim  dim
	body string
}

// Dimensions of lines that follow the first series.
const (
	same   kind = amount + 1 + iota // that of the series
	spread                          // that of a difference of two of its values
)

// The lines of functions with one.
var (
	likeSeries = []line{{dim: dim{kind: same}}}
	asSpread   = []line{{dim: dim{kind: spread}}}
	onScale    = []line{{dim: dim{kind: scale}}}
	inPercent  = []line{{dim: dim{kind: percent}}}
	asNumber   = []line{{dim: dim{kind: ratio}}}
	asCount    = []line{{dim: dim{kind: count}}}
	asPrice    = []line{{dim: dim{kind: price, price: 1}}}
	asDistance = []line{{dim: dim{kind: distance, price: 1}}}
)

// functions are the words, but for those of the position and the clock.
var functions = []function{
	// the candle
	{name: "open", meaning: "first price of the candle", example: "close > open"},
	{name: "high", meaning: "highest price of the candle", example: "high > 20000"},
	{name: "low", meaning: "lowest price of the candle", example: "low < entry_price"},
	{name: "close", meaning: "last price of the candle", example: "close > 20000"},
	{name: "volume", meaning: "amount that was traded in the candle", example: "volume > 1.5 * sma(volume, 20)"},
	{name: "hl2", lines: []line{{body: "(high + low) / 2"}}, meaning: "middle of the candle", example: "close > hl2"},
	{name: "hlc3", lines: []line{{body: "(high + low + close) / 3"}}, meaning: "typical price of the candle",
		example: "close > hlc3"},
	{name: "ohlc4", lines: []line{{body: "(open + high + low + close) / 4"}}, meaning: "mean of the candle's prices",
		example: "close > ohlc4"},
	{name: "tr", lines: []line{{body: "max(high, close[1]) - min(low, close[1])"}},
		meaning: "true range: of the candle with the gap before it", example: "tr > 2 * atr(14)"},

	// averages
	{name: "sma", params: "s n", source: "close", lines: likeSeries, meaning: "simple average",
		example: "close > sma(close, 50)",
		make:    func(a []float64) unit { return &smaUnit{x: indicator.NewSMA(int(a[0]))} }},
	{name: "ema", params: "s n", source: "close", lines: likeSeries, meaning: "exponential average",
		example: "close > ema(50)",
		make:    func(a []float64) unit { return &emaUnit{x: indicator.NewEMA(int(a[0]))} }},
	{name: "wma", params: "s n", source: "close", lines: likeSeries, meaning: "linearly weighted average",
		example: "close > wma(20)",
		make:    func(a []float64) unit { return prices(indicator.NewWMA(int(a[0])), nil) }},
	{name: "hma", params: "s n", source: "close", lines: likeSeries, least: 2, meaning: "Hull's average",
		example: "hma(20) > hma(20)[1]",
		make:    func(a []float64) unit { return prices(indicator.NewHMA(int(a[0])), nil) }},
	{name: "rma", params: "s n", source: "close", lines: likeSeries, meaning: "Wilder's average",
		example: "close > rma(14)",
		make:    func(a []float64) unit { return prices(indicator.NewRMA(int(a[0])), nil) }},
	{name: "dema", params: "s n", source: "close", lines: likeSeries, meaning: "double exponential average",
		example: "close > dema(20)",
		make:    func(a []float64) unit { return prices(indicator.NewDEMA(int(a[0])), nil) }},
	{name: "tema", params: "s n", source: "close", lines: likeSeries, meaning: "triple exponential average",
		example: "close > tema(20)",
		make:    func(a []float64) unit { return prices(indicator.NewTEMA(int(a[0])), nil) }},
	{name: "kama", params: "s n", source: "close", lines: likeSeries, meaning: "Kaufman's adaptive average",
		example: "close > kama(10)",
		make:    func(a []float64) unit { return prices(indicator.NewKAMA(int(a[0])), nil) }},
	{name: "vwma", params: "n", lines: asPrice, meaning: "average of the closes by volume", example: "close > vwma(20)",
		make: func(a []float64) unit { return candles(indicator.NewVWMA(int(a[0])), nil) }},
	{name: "vwap", params: "n", lines: asPrice, meaning: "average price of n candles by volume",
		example: "close > vwap(20)",
		make:    func(a []float64) unit { return candles(indicator.NewVWAP(int(a[0])), nil) }},
	{name: "dayvwap", lines: asPrice, daily: true, meaning: "average price of this day (UTC) by volume",
		example: "close > dayvwap",
		make: func(a []float64) unit {
			return candles(indicator.NewSessionVWAP(market.Interval(a[0])), nil)
		}},
	{name: "avg", params: "x y", lines: []line{{body: "(x + y) / 2"}}, meaning: "mean of two figures",
		example: "close > avg(high[1], low[1])"},

	// trend
	{name: "macd", params: "s fast slow signal", source: "close", order: 1,
		lines: []line{{"line", dim{kind: spread}, ""}, {"signal", dim{kind: spread}, ""},
			{"hist", dim{kind: spread}, ""}},
		meaning: "fast less slow average, and the average of that", example: "macd(12, 26, 9).hist > 0",
		make: func(a []float64) unit {
			return prices(macd{indicator.NewMACD(int(a[0]), int(a[1]), int(a[2]))}, (*macd).lines)
		}},
	{name: "ppo", params: "s fast slow signal", source: "close", order: 1,
		lines: []line{{"line", dim{kind: percent}, ""}, {"signal", dim{kind: percent}, ""},
			{"hist", dim{kind: percent}, ""}},
		meaning: "macd in percent of the slow average", example: "ppo(12, 26, 9).hist > 0",
		make: func(a []float64) unit {
			return prices(ppo{indicator.NewPPO(int(a[0]), int(a[1]), int(a[2]))}, (*ppo).lines)
		}},
	{name: "trix", params: "s n", source: "close", lines: inPercent, meaning: "percent by which a triple average rose",
		example: "trix(15) > 0",
		make:    func(a []float64) unit { return prices(indicator.NewTRIX(int(a[0])), nil) }},
	{name: "adx", params: "n", lines: []line{{"", dim{kind: scale}, ""}, {"plus", dim{kind: scale}, ""},
		{"minus", dim{kind: scale}, ""}}, meaning: "Wilder's strength of a trend; .plus and .minus say which way",
		example: "adx(14) > 25 and adx(14).plus > adx(14).minus",
		make: func(a []float64) unit {
			return candles(adx{indicator.NewADX(int(a[0]))}, (*adx).lines)
		}},
	{name: "aroon", params: "n", lines: []line{{"osc", dim{kind: ratio}, ""}, {"up", dim{kind: scale}, ""},
		{"down", dim{kind: scale}, ""}}, meaning: "how fresh the highest high and the lowest low are",
		example: "aroon(25).up > 70 and aroon(25).down < 30",
		make:    func(a []float64) unit { return candles(aroon{indicator.NewAroon(int(a[0]))}, (*aroon).lines) }},
	{name: "vortex", params: "n", must: true, lines: []line{{"plus", dim{kind: ratio}, ""},
		{"minus", dim{kind: ratio}, ""}}, meaning: "reach beyond the candle before, up and down",
		example: "vortex(14).plus crosses above vortex(14).minus",
		make: func(a []float64) unit {
			return candles(vortex{Vortex: indicator.NewVortex(int(a[0]))}, (*vortex).lines)
		}},
	{name: "ichimoku", params: "tenkan kijun slow", must: true, lines: []line{{"tenkan", aPrice, ""},
		{"kijun", aPrice, ""}, {"a", aPrice, ""}, {"b", aPrice, ""}, {"leada", aPrice, ""}, {"leadb", aPrice, ""}},
		meaning: "Hosoda's lines; a and b are the cloud over this candle, leada and leadb that of later ones",
		example: "close > ichimoku(9, 26, 52).a and close > ichimoku(9, 26, 52).b",
		make: func(a []float64) unit {
			x := indicator.NewIchimoku(int(a[0]), int(a[1]), int(a[2]))
			return candles(ichimoku{Ichimoku: x}, (*ichimoku).lines)
		}},
	{name: "sar", params: "start step most", lines: []line{{"line", aPrice, ""}, {"up", aCondition, ""},
		{"next", aPrice, ""}}, meaning: "Wilder's parabolic stop and reverse; .next is a stop for the next candle",
		example: "sar(0.02, 0.02, 0.2).up",
		make:    func(a []float64) unit { return candles(sar{indicator.NewSAR(a[0], a[1], a[2])}, (*sar).lines) }},
	{name: "supertrend", params: "n k", order: -1, lines: []line{{"line", aPrice, ""}, {"up", aCondition, ""}},
		meaning: "a line k true ranges away that turns with the trend", example: "supertrend(10, 3).up",
		make: func(a []float64) unit {
			return candles(supertrend{indicator.NewSupertrend(int(a[0]), a[1])}, (*supertrend).lines)
		}},
	{name: "linreg", params: "s n", source: "close", lines: likeSeries, least: 2, meaning: "end of the regression line",
		example: "close > linreg(20)", make: func(a []float64) unit {
			return prices(indicator.NewRegression(int(a[0])), nil)
		}},
	{name: "slope", params: "s n", source: "close", lines: asSpread, meaning: "mean rise of a candle over n candles",
		example: "slope(ema(50), 10) > 0",
		make:    func(a []float64) unit { return floats(indicator.NewSlope(int(a[0]))) }},
	{name: "rising", params: "s n", lines: []line{{body: "all(s > s[1], n)"}},
		meaning: "higher than before n times in a row",
		example: "rising(close, 3)"},
	{name: "falling", params: "s n", lines: []line{{body: "all(s < s[1], n)"}},
		meaning: "lower than before n times in a row",
		example: "falling(close, 3)"},

	// momentum
	{name: "rsi", params: "s n", source: "close", lines: onScale, meaning: "Wilder's relative strength index, 0 to 100",
		example: "rsi(14) < 30",
		make:    func(a []float64) unit { return &rsiUnit{x: indicator.NewRSI(int(a[0]))} }},
	{name: "stoch", params: "n smooth signal", lines: []line{{"k", dim{kind: scale}, ""}, {"d", dim{kind: scale}, ""}},
		meaning: "place of the close between lowest low and highest high", example: "stoch(14, 3, 3).k < 20",
		make: func(a []float64) unit {
			return candles(stochastic{indicator.NewStochastic(int(a[0]), int(a[1]), int(a[2]))}, (*stochastic).lines)
		}},
	{name: "stochrsi", params: "s length n smooth signal", source: "close",
		lines:   []line{{"k", dim{kind: scale}, ""}, {"d", dim{kind: scale}, ""}},
		meaning: "stoch of an rsi", example: "stochrsi(14, 14, 3, 3).k < 20",
		make: func(a []float64) unit {
			x := indicator.NewStochRSI(int(a[0]), int(a[1]), int(a[2]), int(a[3]))
			return prices(stochRSI{x}, (*stochRSI).lines)
		}},
	{name: "wpr", params: "n", lines: asNumber, meaning: "Williams' %R, -100 to 0", example: "wpr(14) < -80",
		make: func(a []float64) unit { return candles(indicator.NewWilliamsR(int(a[0])), nil) }},
	{name: "cmo", params: "s n", source: "close", lines: asNumber, meaning: "Chande's momentum, -100 to 100",
		example: "cmo(14) < -50",
		make:    func(a []float64) unit { return prices(indicator.NewCMO(int(a[0])), nil) }},
	{name: "tsi", params: "s short long", source: "close", order: 1, lines: asNumber,
		meaning: "Blau's true strength index, -100 to 100", example: "tsi(13, 25) > 0",
		make: func(a []float64) unit { return prices(indicator.NewTSI(int(a[1]), int(a[0])), nil) }},
	{name: "uo", params: "short middle long", lines: onScale, meaning: "Williams' ultimate oscillator, 0 to 100",
		example: "uo(7, 14, 28) < 30",
		make: func(a []float64) unit {
			return candles(indicator.NewUltimate(int(a[0]), int(a[1]), int(a[2])), nil)
		}},
	{name: "ao", params: "fast slow", order: 1, lines: asDistance, meaning: "Williams' awesome oscillator",
		example: "ao(5, 34) > 0",
		make:    func(a []float64) unit { return candles(indicator.NewAwesome(int(a[0]), int(a[1])), nil) }},
	{name: "cci", params: "n", lines: asNumber, least: 2, meaning: "Lambert's commodity channel index",
		example: "cci(20) < -100",
		make:    func(a []float64) unit { return candles(indicator.NewCCI(int(a[0])), nil) }},
	{name: "mfi", params: "n", lines: onScale, meaning: "money flow index, 0 to 100", example: "mfi(14) < 20",
		make: func(a []float64) unit { return candles(indicator.NewMFI(int(a[0])), nil) }},
	{name: "obv", lines: []line{{dim: dim{kind: amount, volume: 1}}}, meaning: "on-balance volume; look at its changes",
		example: "obv > obv[1]",
		make:    func([]float64) unit { return candles(indicator.NewOBV(), nil) }},
	{name: "accdist", lines: []line{{dim: dim{kind: amount, volume: 1}}},
		meaning: "accumulation and distribution; look at its changes", example: "rising(accdist, 3)",
		make: func([]float64) unit { return candles(indicator.NewAccDist(), nil) }},
	{name: "chaikin", params: "fast slow", order: 1, lines: []line{{dim: dim{kind: amount, volume: 1}}},
		meaning: "Chaikin's oscillator of accdist", example: "chaikin(3, 10) > 0",
		make: func(a []float64) unit { return candles(indicator.NewChaikin(int(a[0]), int(a[1])), nil) }},
	{name: "cmf", params: "n", lines: asNumber, meaning: "Chaikin's money flow, -1 to 1", example: "cmf(20) > 0.1",
		make: func(a []float64) unit { return candles(indicator.NewCMF(int(a[0])), nil) }},
	{name: "roc", params: "s n", source: "close", lines: inPercent, meaning: "rise in the last n candles, in percent",
		example: "roc(10) > 5",
		make:    func(a []float64) unit { return prices(indicator.NewROC(int(a[0])), nil) }},
	{name: "mom", params: "s n", source: "close", lines: []line{{body: "s - s[n]"}},
		meaning: "rise in the last n candles",
		example: "mom(10) > 0"},
	{name: "change", params: "s n", source: "close", lines: []line{{body: "s - s[n]"}}, meaning: "the same as mom",
		example: "change(close, 1) > atr(14)"},

	// bands
	{name: "bb", params: "s n k", source: "close", must: true, lines: []line{{"upper", dim{kind: same}, ""},
		{"middle", dim{kind: same}, ""}, {"lower", dim{kind: same}, ""},
		{"width", dim{kind: ratio}, "(bb(s, n, k).upper - bb(s, n, k).lower) / bb(s, n, k).middle"},
		{"percent", dim{kind: ratio}, "(s - bb(s, n, k).lower) / (bb(s, n, k).upper - bb(s, n, k).lower)"}},
		meaning: "Bollinger's band, k deviations around an average", example: "close < bb(20, 2).lower",
		make: func(a []float64) unit {
			return prices(bollinger{Bollinger: indicator.NewBollinger(int(a[0]), a[1])}, (*bollinger).lines)
		}},
	{name: "kc", params: "n m k", must: true, lines: []line{{"upper", aPrice, ""}, {"middle", aPrice, ""},
		{"lower", aPrice, ""}}, meaning: "Keltner's band, k true ranges over m candles around ema(n)",
		example: "close > kc(20, 10, 2).upper",
		make: func(a []float64) unit {
			return candles(keltner{Keltner: indicator.NewKeltner(int(a[0]), int(a[1]), a[2])}, (*keltner).lines)
		}},
	{name: "donchian", params: "n", must: true, lines: []line{{"upper", aPrice, ""}, {"middle", aPrice, ""},
		{"lower", aPrice, ""}}, meaning: "channel of the last n candles, the present one included",
		example: "close > donchian(20).upper[1]",
		make: func(a []float64) unit {
			return candles(donchian{Donchian: indicator.NewDonchian(int(a[0]))}, (*donchian).lines)
		}},
	{name: "chandelier", params: "n k", must: true, lines: []line{{"long", aPrice, ""}, {"short", aPrice, ""}},
		meaning: "stops k true ranges from the highest high and the lowest low",
		example: "close < chandelier(22, 3).long",
		make: func(a []float64) unit {
			return candles(chandelier{Chandelier: indicator.NewChandelier(int(a[0]), a[1])}, (*chandelier).lines)
		}},
	{name: "highest", params: "s n", source: "high",
		lines:   []line{{"", dim{kind: same}, ""}, {"ago", dim{kind: count}, ""}},
		meaning: "highest of the last n, the present one included; .ago: candles since",
		example: "close > highest(high, 20)[1]",
		make:    func(a []float64) unit { return &ladder{list: make([]rung, int(a[0])), sign: 1} }},
	{name: "lowest", params: "s n", source: "low",
		lines:   []line{{"", dim{kind: same}, ""}, {"ago", dim{kind: count}, ""}},
		meaning: "lowest of the last n, the present one included; .ago: candles since",
		example: "close < lowest(low, 20)[1]",
		make:    func(a []float64) unit { return &ladder{list: make([]rung, int(a[0])), sign: -1} }},
	{name: "pivothigh", params: "before after", lines: asPrice, meaning: "high that is higher than those around it, " +
		"when the last one after it has closed; else not known",
		example: "close > valuewhen(not na(pivothigh(5, 5)), pivothigh(5, 5), 0)",
		make: func(a []float64) unit {
			return candles(pivotHigh{indicator.NewSwings(int(a[0]), int(a[1]))}, nil)
		}},
	{name: "pivotlow", params: "before after", lines: asPrice, meaning: "low that is lower than those around it, " +
		"when the last one after it has closed; else not known",
		example: "close < valuewhen(not na(pivotlow(5, 5)), pivotlow(5, 5), 0)",
		make: func(a []float64) unit {
			return candles(pivotLow{indicator.NewSwings(int(a[0]), int(a[1]))}, nil)
		}},
	{name: "pivots", must: true, daily: true, lines: []line{{"p", aPrice, ""}, {"r1", aPrice, ""}, {"r2", aPrice, ""},
		{"r3", aPrice, ""}, {"s1", aPrice, ""}, {"s2", aPrice, ""}, {"s3", aPrice, ""}},
		meaning: "levels of this day (UTC) from the day before", example: "close < pivots.s1",
		make: func(a []float64) unit {
			x := indicator.NewPivotPoints(market.Interval(a[0]))
			return candles(pivotPoints{PivotPoints: x}, (*pivotPoints).lines)
		}},

	// candles
	{name: "ha", must: true, lines: []line{{"open", aPrice, ""}, {"high", aPrice, ""}, {"low", aPrice, ""},
		{"close", aPrice, ""}}, meaning: "the smoother candle of Heikin-Ashi", example: "ha.close > ha.open",
		make: func([]float64) unit {
			return candles(heikinAshi{HeikinAshi: indicator.NewHeikinAshi()}, (*heikinAshi).lines)
		}},
	{name: "pattern", must: true, lines: []line{{"doji", aCondition, ""}, {"hammer", aCondition, ""},
		{"hangingman", aCondition, ""}, {"invertedhammer", aCondition, ""}, {"shootingstar", aCondition, ""},
		{"bullishengulfing", aCondition, ""}, {"bearishengulfing", aCondition, ""}, {"bullishharami", aCondition, ""},
		{"bearishharami", aCondition, ""}, {"morningstar", aCondition, ""}, {"eveningstar", aCondition, ""},
		{"threesoldiers", aCondition, ""}, {"threecrows", aCondition, ""}},
		meaning: "patterns of one to three candles", example: "pattern.hammer or pattern.bullishengulfing",
		make: func([]float64) unit { return candles(patterns{Patterns: indicator.NewPatterns()}, (*patterns).lines) }},

	// spread
	{name: "atr", params: "n", lines: asDistance, meaning: "Wilder's average true range",
		example: "close - open > 2 * atr(14)",
		make:    func(a []float64) unit { return &atrUnit{x: indicator.NewATR(int(a[0]))} }},
	{name: "stdev", params: "s n", source: "close", lines: asSpread, meaning: "standard deviation of the window",
		example: "stdev(20) > atr(14)",
		make:    func(a []float64) unit { return prices(indicator.NewStdDev(int(a[0])), nil) }},
	{name: "variance", params: "s n", source: "close", lines: []line{{body: "stdev(s, n) * stdev(s, n)"}},
		meaning: "square of stdev", example: "variance(roc(1), 20) > variance(roc(1), 100)"},
	{name: "zscore", params: "s n", source: "close", lines: asNumber, least: 2,
		meaning: "deviations away from the average",
		example: "zscore(20) < -2",
		make:    func(a []float64) unit { return prices(indicator.NewZScore(int(a[0])), nil) }},
	{name: "median", params: "s n", source: "close", lines: likeSeries, meaning: "middle of the last n when sorted",
		example: "close > median(21)",
		make:    func(a []float64) unit { return &median{window: make([]float64, int(a[0]))} }},
	{name: "percentrank", params: "s n", source: "close", lines: onScale, least: 2,
		meaning: "place of the last value among its last n; equal ones count half",
		example: "percentrank(atr(14), 100) > 80",
		make:    func(a []float64) unit { return floats(indicator.NewRank(int(a[0]))) }},
	{name: "correlation", params: "a b n", lines: asNumber, least: 2, meaning: "Pearson's correlation of two series",
		example: `correlation(close, close("ETH-EUR"), 50) > 0.8`,
		make:    func(a []float64) unit { return &pairs{x: indicator.NewCorrelation(int(a[0]))} }},

	// events
	{name: "crossover", params: "a b", meaning: "a is above b and was not; also: a crosses above b",
		example: "crossover(sma(20), sma(50))"},
	{name: "crossunder", params: "a b", meaning: "a is below b and was not; also: a crosses below b",
		example: "crossunder(rsi(14), 70)"},
	{name: "cross", params: "a b", lines: []line{{body: "crossover(a, b) or crossunder(a, b)"}},
		meaning: "a crosses b, either way", example: "cross(close, sma(50))"},
	{name: "barssince", params: "c", lines: asCount,
		meaning: "candles since it was true, 0 if it is; not known before the first time",
		example: "barssince(rsi(14) < 30) <= 3",
		make:    func([]float64) unit { return &since{} }},
	{name: "valuewhen", params: "c s ago", lines: []line{{dim: dim{kind: same}}},
		meaning: "the figure when it was true last (0), the time before (1), ...",
		example: "close > valuewhen(rsi(14) < 30, high, 0)",
		make:    func(a []float64) unit { return &when{list: make([]float64, int(a[0])+1)} }},
	{name: "count", params: "c n", lines: asCount, meaning: "how many of the last n candles it was true in",
		example: "count(close > open, 10) >= 7", make: sumOf},
	{name: "all", params: "c n", lines: []line{{body: "count(c, n) == n"}},
		meaning: "true in each of the last n candles",
		example: "all(close > sma(20), 3)"},
	{name: "any", params: "c n", lines: []line{{body: "count(c, n) > 0"}}, meaning: "true in one of the last n candles",
		example: "any(rsi(14) < 30, 5)"},
	{name: "sum", params: "s n", lines: likeSeries, meaning: "sum of the last n", example: "sum(volume, 10) > 1000",
		make: sumOf},
	{name: "between", params: "t t",
		meaning: "the clock is within these times of the day (UTC, or zone); the second one is out",
		example: `between("08:00", "16:30")`},

	// numbers
	{name: "abs", params: "x", op: opAbs, meaning: "without its sign", example: "abs(close - open) > atr(14)"},
	{name: "min", params: "x y", op: opMin, meaning: "the smallest one", example: "min(open, close) > low[1]"},
	{name: "max", params: "x y", op: opMax, meaning: "the largest one", example: "max(open, close) < high[1]"},
	{name: "clamp", params: "x y z", lines: []line{{body: "max(y, min(x, z))"}},
		meaning: "x, not below y and not above z",
		example: "clamp(rsi(14), 20, 80) > 50"},
	{name: "sqrt", params: "x", op: opSqrt, meaning: "square root", example: "close / open > sqrt(1.1)"},
	{name: "pow", params: "x y", op: opPow, meaning: "x to the power of y",
		example: "pow(close / close[1], 2) > 1.01"},
	{name: "log", params: "x", op: opLog, meaning: "natural logarithm", example: "log(close / close[1]) > 0.01"},
	{name: "exp", params: "x", op: opExp, meaning: "power of e", example: "close / open > exp(0.01)"},
	{name: "floor", params: "x", op: opFloor, meaning: "whole number below", example: "floor(rsi(14) / 10) == 3"},
	{name: "ceil", params: "x", op: opCeil, meaning: "whole number above", example: "ceil(rsi(14) / 10) == 3"},
	{name: "round", params: "x", op: opRound, meaning: "nearest whole number", example: "round(rsi(14)) == 30"},
	{name: "sign", params: "x", op: opSign, meaning: "-1, 0 or 1", example: "sign(close - open) == 1"},
	{name: "nz", params: "x y", op: opFill, meaning: "x, or y where x is not known", example: "nz(profit, 0) < 5"},
	{name: "na", params: "x", op: opIsNaN, meaning: "the figure is not known", example: "na(bars_since_entry)"},
}
