package lang

import (
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// function is a word of the language with what it computes: a field of the candle, an operation, a
// unit, or a text of the language itself.
type function struct {
	name string
	// params are the names of the arguments, which say their kind: s, a and b are series, c is a
	// condition with a history, x, y and z are figures, k is a number, ago a number of times, t a
	// text and any other name a length.
	params  string
	source  string // default of the first series
	lines   []line // none: the word is a field, or one of its own kind
	must    bool   // a line must be named
	daily   bool   // its unit needs the interval of the candles
	least   int    // smallest length; 0: 1
	order   int8   // of the first two arguments: 1 rising, -1 falling
	op      op     // of a word that is an operation
	make    func(args []float64) unit
	meaning string
	example string
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

// grammar is what stands between the words.
var grammar = []struct{ name, usage, meaning, example string }{
	{"and", "c and c", "both; also &&", "close > open and volume > 1"},
	{"or", "c or c", "one of them, or both; also ||", "close > open or volume > 1"},
	{"not", "not c", "the opposite; also !", "not (close > open)"},
	{"<", "x < y", "comparisons: < <= > >= == !=", "close < open"},
	{"crosses above", "a crosses above b", "a is above b and was not", "close crosses above sma(50)"},
	{"crosses below", "a crosses below b", "a is below b and was not", "rsi(14) crosses below 70"},
	{"?", "c ? x : y", "x where c is true, else y", "close > (hour < 12 ? high[1] : high[2])"},
	{"[1]", "s[k]", "the series k candles ago, up to 500", "close > close[1]"},
	{"%", "x % y", "rest of a division, with the sign of x", "bars_since_entry % 4 == 0"},
	{"%", "5%", "a number in percent: 0.05, or 5 beside a percentage", "close > open * (1 + 5%)"},
	{"4h", `word(..., "4h")`, "of another interval: its last closed candle; also of another market",
		`close > sma(200, "4h")`},
}

// Word is a word of the language.
type Word struct {
	Name    string
	Usage   string // with its arguments
	Meaning string
	Example string // a condition; it may read a signal that is named model
	Warmup  int    // candles that the example needs
}

// Words returns all words, for a table.
func Words() []Word {
	var all []Word
	add := func(name, usage, meaning, example string) {
		w := Word{Name: name, Usage: usage, Meaning: meaning, Example: example}
		if p, err := Compile([]Rule{{name, example, Condition}}, nil, nil, market.Interval1h, "model"); err == nil {
			w.Warmup = p.Warmup()
		}
		all = append(all, w)
	}
	for _, g := range grammar {
		add(g.name, g.usage, g.meaning, g.example)
	}
	for i := range functions {
		f := &functions[i]
		add(f.name, f.usage(), f.shown(), f.example)
	}
	for i := range inputs {
		add(inputs[i].name, inputs[i].name, inputs[i].meaning, inputs[i].example)
	}
	for i := range signalParts {
		part := &signalParts[i]
		add("."+part.name, "SIGNAL."+part.name, part.meaning, part.example)
	}
	return all
}

// shown is the meaning of a function with its lines.
func (f *function) shown() string {
	var names []string
	for _, l := range f.lines {
		if l.name != "" && len(f.lines) > 1 {
			names = append(names, "."+l.name)
		}
	}
	if names == nil {
		return f.meaning
	}
	return f.meaning + "; lines " + strings.Join(names, " ")
}
