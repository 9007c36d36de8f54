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
