package lang

// form is how Go code has a word: an indicator of package indicator with the arguments of the word.
type form struct {
	word  string
	make  string   // constructor with the numbers of the arguments; f: as float64, day: the interval
	lines []string // what reads each line, $ is the indicator; none: its Value
	kind  unitKind
}

// formOf is the form of a word, nil where it has none.
func formOf(word string) *form {
	for i := range forms {
		if forms[i].word == word {
			return &forms[i]
		}
	}
	return nil
}

// unitKind is how an indicator takes its series.
type unitKind uint8

const (
	takesCandles unitKind = iota
	takesPrices           // a price, or steps of a fixed point
	takesFloats
	takesCondition // a helper of the module: since
	takesBoth      // when: condition and series
	takesPair      // pairs
	takesExtremes  // highest, lowest
	takesMedian    // a helper of the module: median
)

// forms are the words that functions makes a unit of.
var forms = []form{
	{word: "sma", make: "SMA 0", kind: takesPrices},
	{word: "ema", make: "EMA 0", kind: takesPrices},
	{word: "wma", make: "WMA 0", kind: takesPrices},
	{word: "hma", make: "HMA 0", kind: takesPrices},
	{word: "rma", make: "RMA 0", kind: takesPrices},
	{word: "dema", make: "DEMA 0", kind: takesPrices},
	{word: "tema", make: "TEMA 0", kind: takesPrices},
	{word: "kama", make: "KAMA 0", kind: takesPrices},
	{word: "vwma", make: "VWMA 0"},
	{word: "vwap", make: "VWAP 0"},

	{word: "dayvwap", make: "SessionVWAP day"},

	{word: "macd", make: "MACD 0 1 2", kind: takesPrices, lines: []string{"$.Value()", "$.Signal()", "$.Histogram()"}},
	{word: "ppo", make: "PPO 0 1 2", kind: takesPrices, lines: []string{"$.Value()", "$.Signal()", "$.Histogram()"}},
	{word: "trix", make: "TRIX 0", kind: takesPrices},
	{word: "adx", make: "ADX 0", lines: []string{"$.Value()", "$.Plus()", "$.Minus()"}},

	{word: "aroon", make: "Aroon 0", lines: []string{"$.Value()", "$.Up()", "$.Down()"}},
	{word: "vortex", make: "Vortex 0", lines: []string{"$.Plus()", "$.Minus()"}},
	{word: "ichimoku", make: "Ichimoku 0 1 2", lines: []string{"float64($.Tenkan())", "float64($.Kijun())",
		"float64($.SpanA())", "float64($.SpanB())", "float64($.LeadA())", "float64($.LeadB())"}},
	{word: "sar", make: "SAR 0f 1f 2f", lines: []string{"$.Value()", "number($.Up())", "float64($.Next())"}},
	{word: "supertrend", make: "Supertrend 0 1f", lines: []string{"$.Value()", "number($.Up())"}},
	{word: "linreg", make: "Regression 0", kind: takesPrices},
	{word: "slope", make: "Slope 0", kind: takesFloats},

	{word: "rsi", make: "RSI 0", kind: takesPrices},
	{word: "stoch", make: "Stochastic 0 1 2", lines: []string{"$.Value()", "$.Signal()"}},
	{word: "stochrsi", make: "StochRSI 0 1 2 3", kind: takesPrices, lines: []string{"$.Value()", "$.Signal()"}},
	{word: "wpr", make: "WilliamsR 0"},
	{word: "cmo", make: "CMO 0", kind: takesPrices},
	{word: "tsi", make: "TSI 1 0", kind: takesPrices},
	{word: "uo", make: "Ultimate 0 1 2"},
	{word: "ao", make: "Awesome 0 1"},
	{word: "cci", make: "CCI 0"},
	{word: "mfi", make: "MFI 0"},
	{word: "obv", make: "OBV"},
	{word: "accdist", make: "AccDist"},
	{word: "chaikin", make: "Chaikin 0 1"},
	{word: "cmf", make: "CMF 0"},
	{word: "roc", make: "ROC 0", kind: takesPrices},

	{word: "bb", make: "Bollinger 0 1f", kind: takesPrices, lines: []string{"float64($.Upper())", "float64($.Middle())",
		"float64($.Lower())"}},
	{word: "kc", make: "Keltner 0 1 2f", lines: []string{"float64($.Upper())", "float64($.Middle())",
		"float64($.Lower())"}},
	{word: "donchian", make: "Donchian 0", lines: []string{"float64($.High())", "float64($.Middle())",
		"float64($.Low())"}},
	{word: "chandelier", make: "Chandelier 0 1f", lines: []string{"float64($.Long())", "float64($.Short())"}},
	{word: "highest", make: "Highest 0", kind: takesExtremes},
	{word: "lowest", make: "Lowest 0", kind: takesExtremes},
	{word: "median", kind: takesMedian},
	{word: "pivothigh", make: "Swings 0 1", lines: []string{"pivot($.High())"}},
	{word: "pivotlow", make: "Swings 0 1", lines: []string{"pivot($.Low())"}},
	{word: "pivots", make: "PivotPoints day", lines: []string{"float64($.Pivot())", "float64($.Resistance(1))",
		"float64($.Resistance(2))", "float64($.Resistance(3))", "float64($.Support(1))", "float64($.Support(2))",
		"float64($.Support(3))"}},

	{word: "ha", make: "HeikinAshi", lines: []string{"float64($.Open())", "float64($.High())", "float64($.Low())",
		"float64($.Close())"}},
	{word: "pattern", make: "Patterns", lines: []string{"number($.Doji())", "number($.Hammer())",
		"number($.HangingMan())", "number($.InvertedHammer())",
		"number($.ShootingStar())", "number($.Engulfing() == indicator.Up)",
		"number($.Engulfing() == indicator.Down)", "number($.Harami() == indicator.Up)",
		"number($.Harami() == indicator.Down)", "number($.Star() == indicator.Up)",
		"number($.Star() == indicator.Down)",
		"number($.Three() == indicator.Up)", "number($.Three() == indicator.Down)"}},

	{word: "atr", make: "ATR 0"},
	{word: "stdev", make: "StdDev 0", kind: takesPrices},
	{word: "zscore", make: "ZScore 0", kind: takesPrices},
	{word: "percentrank", make: "Rank 0", kind: takesFloats},
	{word: "correlation", make: "Correlation 0", kind: takesPair},
	{word: "barssince", kind: takesCondition},
	{word: "valuewhen", kind: takesBoth},
	{word: "count", make: "SMA 0", kind: takesPrices, lines: []string{"float64($.Sum())"}},
	{word: "sum", make: "SMA 0", kind: takesPrices, lines: []string{"float64($.Sum())"}},
}
