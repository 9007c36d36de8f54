package lang

import (
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// function is a word of the language with what it computes: a field of the candle, a unit, an
// operation, or a text of the language itself.
type function struct {
	name string
	// params are the names of the arguments, whose first letter is their kind: s a b a series, c a
	// condition, x y a figure, k a number, all others a length.
	params  string
	source  string // default of the first series
	lines   []line
	least   int                       // smallest length, 1 where it is 0
	op      op                        // of params x and y
	make    func(args []float64) unit // of lengths and numbers
	must    bool                      // the name of the line must be written
	meaning string
	example string
}

// line is a result of a function.
type line struct {
	name string
	dim  dim
	body string // in the language; "": the unit's
}

// Dimensions that follow the first series.
const (
	same   kind = amount + 1 + iota // that of the series
	spread                          // that of a difference of two of its values
)

func one(k kind) []line { return []line{{dim: dim{kind: k}}} }

// functions are the words with a series or an operation.
var functions = []function{
	{name: "open", meaning: "first price of the candle", example: "close > open"},
	{name: "high", meaning: "highest price of the candle", example: "high > 20000"},
	{name: "low", meaning: "lowest price of the candle", example: "low < entry_price"},
	{name: "close", meaning: "last price of the candle", example: "close > 20000"},
	{name: "volume", meaning: "amount that was traded in the candle", example: "volume > 1.5 * sma(volume, 20)"},
	{name: "hl2", lines: []line{{body: "(high + low) / 2"}}, meaning: "middle of the candle",
		example: "close > hl2"},
	{name: "hlc3", lines: []line{{body: "(high + low + close) / 3"}}, meaning: "typical price of the candle",
		example: "close > hlc3"},
	{name: "ohlc4", lines: []line{{body: "(open + high + low + close) / 4"}}, meaning: "mean of the candle's prices",
		example: "close > ohlc4"},
	{name: "sma", params: "s n", source: "close", lines: []line{{dim: dim{kind: same}}},
		meaning: "simple average", example: "close > sma(close, 50)", make: func(a []float64) unit {
			return prices(indicator.NewSMA(int(a[0])), (*indicator.SMA).Push, (*indicator.SMA).Ready,
				(*indicator.SMA).Warmup, func(x *indicator.SMA) float64 { return x.Value() })
		}},
	{name: "ema", params: "s n", source: "close", lines: []line{{dim: dim{kind: same}}},
		meaning: "exponential average", example: "close > ema(50)", make: func(a []float64) unit {
			return prices(indicator.NewEMA(int(a[0])), (*indicator.EMA).Push, (*indicator.EMA).Ready,
				(*indicator.EMA).Warmup, func(x *indicator.EMA) float64 { return x.Value() })
		}},
	{name: "rsi", params: "s n", source: "close", lines: []line{{dim: dim{kind: scale}}},
		meaning: "Wilder's relative strength index, 0 to 100", example: "rsi(14) < 30", make: func(a []float64) unit {
			return prices(indicator.NewRSI(int(a[0])), (*indicator.RSI).Push, (*indicator.RSI).Ready,
				(*indicator.RSI).Warmup, (*indicator.RSI).Value)
		}},
	{name: "atr", params: "n", lines: []line{{dim: dim{kind: distance, price: 1}}},
		meaning: "Wilder's average true range", example: "close - open > 2 * atr(14)", make: func(a []float64) unit {
			return candles(indicator.NewATR(int(a[0])), (*indicator.ATR).Push, (*indicator.ATR).Ready,
				(*indicator.ATR).Warmup, (*indicator.ATR).Value)
		}},
	{name: "highest", params: "s n", source: "high",
		lines:   []line{{dim: dim{kind: same}}, {name: "ago", dim: dim{kind: count}}},
		meaning: "highest of the last n, the present one included", example: "close > highest(high, 20)[1]",
		make: func(a []float64) unit { return &ladder{list: make([]rung, int(a[0])), sign: 1} }},
	{name: "lowest", params: "s n", source: "low",
		lines:   []line{{dim: dim{kind: same}}, {name: "ago", dim: dim{kind: count}}},
		meaning: "lowest of the last n, the present one included", example: "close < lowest(low, 20)[1]",
		make: func(a []float64) unit { return &ladder{list: make([]rung, int(a[0])), sign: -1} }},
	{name: "crossover", params: "a b", meaning: "a is above b and was not; the same as a crosses above b",
		example: "crossover(sma(20), sma(50))"},
	{name: "crossunder", params: "a b", meaning: "a is below b and was not; the same as a crosses below b",
		example: "crossunder(rsi(14), 70)"},
	{name: "abs", params: "x", op: opAbs, meaning: "without its sign", example: "abs(close - open) > atr(14)"},
	{name: "min", params: "x y", op: opMin, meaning: "the smaller one", example: "min(open, close) > low[1]"},
	{name: "max", params: "x y", op: opMax, meaning: "the larger one", example: "max(open, close) < high[1]"},
}

// find is the function of a name, nil where it is none.
func find(name string) *function {
	for i := range functions {
		if functions[i].name == name {
			return &functions[i]
		}
	}
	return nil
}

// usage shows how a function is called.
func (f *function) usage() string {
	if f.params == "" {
		return f.name
	}
	return f.name + "(" + strings.ReplaceAll(f.params, " ", ", ") + ")"
}

// Word is a word of the language.
type Word struct {
	Name    string
	Usage   string // with its arguments
	Meaning string
	Example string // a condition
	Warmup  int    // candles that the example needs
}

// Words returns all words, for a table.
func Words() []Word {
	var all []Word
	add := func(name, usage, meaning, example string) {
		w := Word{Name: name, Usage: usage, Meaning: meaning, Example: example}
		if p, err := Compile([]Rule{{name, example, Condition}}, nil, nil, market.Interval1h); err == nil {
			w.Warmup = p.Warmup()
		}
		all = append(all, w)
	}
	for i := range functions {
		f := &functions[i]
		add(f.name, f.usage(), f.meaning, f.example)
	}
	for i := range inputs {
		add(inputs[i].name, inputs[i].name, inputs[i].meaning, inputs[i].example)
	}
	return all
}
