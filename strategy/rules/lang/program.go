package lang

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/market"
)

// Rule is a text of the config to compile.
type Rule struct {
	Key  string // its key in the config: names it in errors and in Program.Index
	Text string
	Want Want
}

// Want is what a rule is used as.
type Want uint8

// What a rule may be used as.
const (
	Condition Want = iota + 1 // true or false
	Price                     // a price, in the market's price units
	Distance                  // between two prices, in the same units
	Number                    // a number without unit
	Figure                    // a number of any unit
	Drawn                     // the same, for a chart alone: no warm-up waits for it
)

// Let is a name for a text. The texts of other names and all rules may use it.
type Let struct {
	Name string
	Text string
}

// Error is a fault of a rule, with its place.
type Error struct {
	Key     string // of the rule; let.NAME; params.NAME
	Line    int    // of the text, from 1; 0 where a name is wrong
	Column  int    // in characters, from 1
	Message string
}

// Error names key, place and cause.
func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.Key, e.Message)
	case e.Line > 1:
		return fmt.Sprintf("%s: line %d, column %d: %s", e.Key, e.Line, e.Column, e.Message)
	}
	return fmt.Sprintf("%s: column %d: %s", e.Key, e.Column, e.Message)
}

// fault is a fault of the text at hand.
type fault struct {
	at      int // byte of the text
	message string
}

// fail ends the reading of a text; within catches it.
func fail(at int, format string, args ...any) { panic(fault{at, fmt.Sprintf(format, args...)}) }

// within runs f, and makes an *Error of a fault in the text of a key.
func within(key, text string, f func()) (err *Error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *Error: // of a text that this one names
			err = x
		case fault:
			before := text[:x.at]
			err = &Error{key, 1 + strings.Count(before, "\n"),
				1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]), x.message}
		default:
			panic(x)
		}
	}()
	f()
	return nil
}

// Program is a set of compiled rules. It never changes: all markets share one.
type Program struct {
	rules     []rule
	code      []instruction
	constants []constant
	streams   []stream // the first one is the main interval of the traded market
	reads     []string
	signals   []string
	series    []series
	mixed     []step // of all series that read several streams
	cells     int
	names     []string
	lengths   map[string]bool // params that are a length: whole numbers
	daily     bool            // a unit needs the main interval
}

// rule is a compiled Rule.
type rule struct {
	key   string
	entry int // of its code
	expr  *expr
	want  Want
}

// stream is a row of candles.
type stream struct {
	market   int // 0: the traded one, else 1 + its place in reads
	interval market.Interval
	fields   int       // cell of the open; high, low, close and volume follow
	shifts   []shifted // the latest first
	steps    []step
	warmup   int
}

// shifted is a cell that takes the value of another from before the candle: x[1].
type shifted struct{ from, to int }

// step computes one series when a candle has come: with its unit, or by code.
type step struct {
	series int // -1: code
	entry  int
	cell   int
	expr   *expr // of the code
}

// constant is a number in a cell. Prices and volumes have the units of a market.
type constant struct {
	cell          int
	num           float64
	price, volume int8
	market        int
	converts      conversion
	symbol        string // of a number that was written with params
}

// conversion is what a constant turns into something else, where it is a factor of units.
type conversion uint8

const (
	convertsMarket conversion = iota + 1 // units of the market into those of the traded one
	convertsMoney                        // units of money into those of price × volume
)

// Compile compiles rules. Params, let names and signals are the names that they may use. Errors are
// *Error, joined where there are several.
func Compile(rules []Rule, params map[string]float64, lets []Let, main market.Interval, signals ...string) (*Program,
	error) {
	p := &Program{cells: temporaries, lengths: map[string]bool{}}
	c := &checker{program: p, params: params, lets: map[string]*let{}, signals: signals, used: map[string]bool{},
		known: map[string]int{}}
	c.stream = c.streamOf(0, main)
	for _, x := range []float64{0, 1} { // the values of a condition
		(&generator{checker: c}).constant(constant{num: x})
	}
	var errs []error
	note := func(err *Error) {
		if err != nil && !slices.ContainsFunc(errs, func(e error) bool { return e.Error() == err.Error() }) {
			errs = append(errs, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		note(c.free("params."+name, name))
	}
	for _, l := range lets {
		note(c.free("let."+l.Name, l.Name))
		note(within("let."+l.Name, l.Text, func() { c.lets[l.Name] = &let{text: l.Text, node: parse(l.Text)} }))
	}
	for _, r := range rules {
		c.keys = append(c.keys, r.Key)
	}
	for _, r := range rules {
		note(within(r.Key, r.Text, func() { c.rule(r) }))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	p.names = slices.Sorted(maps.Keys(c.used))
	return p, nil
}

// On is the program with another main interval; nil where the rules must be compiled with it: they
// name an interval, or have an indicator of whole days.
func (p *Program) On(main market.Interval) *Program {
	if len(p.streams) > 1 || p.daily {
		return nil
	}
	with := *p
	with.streams = slices.Clone(p.streams)
	with.streams[0].interval = main
	return &with
}

// Warmup is the number of candles of the main interval up to the first on which a decision counts,
// that one included. Other markets need as many.
func (p *Program) Warmup() int { return p.Intervals()[p.streams[0].interval] }

// Intervals returns the intervals whose candles the rules read, the main one among them, and how
// many candles of each they need before the first decision.
func (p *Program) Intervals() map[market.Interval]int {
	need := map[market.Interval]int{p.streams[0].interval: 1}
	for _, s := range p.streams {
		need[s.interval] = max(need[s.interval], s.warmup)
	}
	return need
}

// Reads returns the names of the other markets whose candles the rules read.
func (p *Program) Reads() []string { return slices.Clone(p.reads) }

// Signals returns the names of the signals that the rules read, in the order of Inputs.Signals.
func (p *Program) Signals() []string { return slices.Clone(p.signals) }

// Names returns the params and let names that the rules use, in order.
func (p *Program) Names() []string { return slices.Clone(p.names) }

// Inputs returns the words of the position and the clock that a rule reads, in order. Parts of
// signals are not among them.
func (p *Program) Inputs(rule int) []string {
	read := map[string]bool{}
	var visit func(e *expr)
	visit = func(e *expr) {
		if e.op == opInput && e.num < firstSignal {
			read[inputs[int(e.num)].name] = true
		}
		for _, kid := range e.kids {
			visit(kid)
		}
	}
	visit(p.rules[rule].expr)
	return slices.Sorted(maps.Keys(read))
}

// Rules is the number of rules.
func (p *Program) Rules() int { return len(p.rules) }

// Index is the number of the rule with a key, -1 where there is none.
func (p *Program) Index(key string) int {
	return slices.IndexFunc(p.rules, func(r rule) bool { return r.key == key })
}
