package lang

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Code is a program as Go code, for a module that does without this package. Package rules writes
// the module around it. The code reads figures f, which every market has for itself.
type Code struct {
	Fields  []Field  // of the struct figures, in groups by interval
	Make    []string // lines of newFigures: p are the Params, m the market, interval the main one
	Pushes  []Push   // of the main interval first
	Settle  []string // lines for the series of several intervals
	Rules   []Method // by number
	Lets    []Method
	Moment  []string // names of inputs that the rules read, such as profit
	Signals []Heard
	Params  map[string]string // fields of Params by param
	Lengths map[string]bool   // params that are whole numbers
	Needs   []Need
}

// Field is a field of a struct.
type Field struct{ Name, Type, Doc string }

// Push takes the candles of an interval.
type Push struct {
	Interval market.Interval // 0: the main one
	Lines    []string
}

// Method is a method of the figures.
type Method struct {
	Name, Doc string
	Result    string   // bool or float64
	Asks      bool     // it compares, and so gets the truth is
	Moment    bool     // it reads the position or the clock, and so gets the moment now
	Body      string   // an expression
	Why       []string // lines that add to the facts w why the condition is true
	WhyMoment bool
	OnPrices  bool // of what is drawn: a price, else it is as a person writes it
}

// Heard is a part of a signal that a rule reads, and the name of its field.
type Heard struct{ Signal, Part, Field string }

// Need is the warm-up of an interval as Go code, which reads the figures f.
type Need struct {
	Interval market.Interval // 0: the main one
	Warmup   string
}

// writer makes the code.
type writer struct {
	program *Program
	code    Code
	taken   map[string]bool
	cells   map[int]*written
	levels  map[constant]string
	lets    map[string]string // names of methods, by their code
	asks    bool              // what was written since compares
	moment  bool              // or reads the moment
}

// written is a cell with its code.
type written struct {
	read  string // the code that reads it
	field string
	label string // as a rule reads it
	used  bool
	warm  warm
}

// Go writes the program as Go code. names are those that it must not use.
func (p *Program) Go(names ...string) (*Code, error) {
	w := &writer{program: p, taken: map[string]bool{}, cells: map[int]*written{}, levels: map[constant]string{},
		lets: map[string]string{}}
	w.code.Lengths = p.lengths
	w.params()
	for _, name := range append(names, strings.Fields(reserved)...) {
		w.taken[name] = true
	}
	var err error
	if fault := within("rules", "", func() { err = w.all() }); fault != nil {
		return nil, fault
	}
	return &w.code, err
}

// reserved are names that mean something else in the code.
const reserved = "break case chan const continue default defer else fallthrough for func go goto if import " +
	"interface map package range return select struct switch type var any append bool cap clear close copy delete " +
	"error false float64 int len make max min new nil panic print println string true f p m w c is now interval " +
	"market indicator " +
	"strategy math push settled pending end figures moment truth number known value pivot over " +
	"extreme median since when past pairs floats units unknown quotient pick logarithm sign fill abs whole text why"

func (w *writer) all() error {
	for i := range w.program.streams {
		w.candle(i)
	}
	for i := range w.program.streams {
		push := Push{Lines: w.steps(i)}
		if i > 0 {
			push.Interval = w.program.streams[i].interval
		}
		w.code.Pushes = append(w.code.Pushes, push)
	}
	for i := range w.program.mixed {
		w.code.Settle = append(w.code.Settle, w.step(several, &w.program.mixed[i])...)
	}
	for i := range w.program.rules {
		w.code.Rules = append(w.code.Rules, w.rule(&w.program.rules[i]))
	}
	w.fields()
	w.needs()
	return nil
}

// suffix is an interval in names, such as On1d.
func (w *writer) suffix(stream int) string {
	if stream <= 0 {
		return ""
	}
	return "On" + w.program.streams[stream].interval.String()
}

// name is a new name for a text of the rules.
func (w *writer) name(text string) string {
	base := goName(text)
	name := base
	for n := 2; w.taken[name]; n++ {
		name = base + strconv.Itoa(n)
		if base[len(base)-1] <= '9' {
			name = base + "x" + strconv.Itoa(n)
		}
	}
	w.taken[name] = true
	return name
}

// signNames are the signs in names.
func signNames() map[string]string {
	return map[string]string{"<": "Below", ">": "Above", "<=": "AtMost", ">=": "AtLeast", "==": "Is",
		"!=": "IsNot", "+": "Plus", "-": "Less", "*": "Times", "/": "Per", "%": "Rest", "and": "And", "or": "Or",
		"not":           "Not",
		"crosses above": "CrossesAbove", "crosses below": "CrossesBelow", "?": "If", ":": "Else"}
}

// longestName is the length from which a name is cut.
const longestName = 32

// goName makes a Go name of a text of the language: sma(50, "1d")[1] is sma50On1dBefore.
func goName(text string) string {
	var name strings.Builder
	l := lexer{source: text}
	add := func(word string) {
		for _, part := range strings.Split(word, "_") {
			switch {
			case part == "" || name.Len() > 0 && name.Len()+len(part) > longestName:
			case name.Len() == 0:
				name.WriteString(strings.ToLower(part[:1]) + part[1:])
			default:
				name.WriteString(strings.ToUpper(part[:1]) + part[1:])
			}
		}
	}
	ago := false
	for t := l.next(); t.kind != tokenEnd; t = l.next() {
		switch {
		case t.kind == tokenText:
			add("On" + t.text)
		case t.kind == tokenNumber && ago && t.text == "1":
			add("Before")
		case ago && t.kind != tokenSign:
			add("Ago" + t.text)
		case t.kind == tokenNumber || t.kind == tokenPart:
			add(strings.NewReplacer(".", "p", "%", "").Replace(t.text))
		case t.kind == tokenName:
			add(t.text)
		default:
			add(signNames()[t.text])
		}
		ago = t.kind == tokenSign && t.text == "["
	}
	all := name.String()
	if all == "" || digit(all[0]) {
		return "figure" + all
	}
	return all
}

// candle is the fields of a stream's candle. They are declared where a rule reads them.
func (w *writer) candle(stream int) {
	s := &w.program.streams[stream]
	if s.market != 0 {
		fail(0, "rules that read another market, %s, are not written in Go yet: take it out of the rules, eject them, "+
			"and add it in Go", w.program.reads[s.market-1])
	}
	for i, f := range fieldNames {
		label := f
		if stream > 0 {
			label += fmt.Sprintf("(%q)", s.interval)
		}
		field := goName(label)
		w.taken[field] = true
		one := warm{}.of(stream, 1)
		w.cells[s.fields+i] = &written{read: "f." + field, field: field, label: label, warm: one}
	}
}

// fieldNames are the fields of a candle in the order of its cells.
var fieldNames = []string{"open", "high", "low", "close", "volume"}

// steps writes what happens when a candle of a stream comes: history first, then the candle, then
// what is computed of it.
func (w *writer) steps(stream int) (lines []string) {
	s := &w.program.streams[stream]
	var later []string
	shifts := slices.Clone(s.shifts)
	// shifts read cells that steps name, so steps are written first; a step may read a shift too
	pending := map[int]shifted{}
	for _, x := range shifts {
		pending[x.to] = x
	}
	var need func(cell int)
	need = func(cell int) {
		x, is := pending[cell]
		if !is || w.cells[cell] != nil {
			return
		}
		if w.cells[x.from] == nil {
			need(x.from)
		}
		if from := w.cells[x.from]; from != nil {
			w.cells[cell] = w.declared(from.label+"[1]", "", "float64", from.warm.plus(stream, 1, ""))
		}
	}
	for i := range s.steps {
		for _, x := range shifts {
			need(x.to)
		}
		later = append(later, w.step(stream, &s.steps[i])...)
	}
	for _, x := range shifts {
		need(x.to)
	}
	for _, x := range shifts {
		lines = append(lines, w.cells[x.to].read+" = "+w.read(x.from))
	}
	return append(append(lines, "CANDLE"), later...)
}

// declared is a new field. Numbers begin unknown.
func (w *writer) declared(label, name, kind string, need warm) *written {
	if name == "" {
		name = label
	}
	one := &written{field: w.name(name), label: label, warm: need, used: true}
	one.read = "f." + one.field
	w.code.Fields = append(w.code.Fields, Field{one.field, kind, label})
	if kind == "float64" {
		w.code.Make = append(w.code.Make, one.field+": unknown(),")
	}
	return one
}

// read is the code that reads a cell.
func (w *writer) read(cell int) string {
	one := w.cells[cell]
	if one == nil {
		panic(fmt.Sprintf("lang: cell %d is not written", cell))
	}
	one.used = true
	return one.read
}

// step writes one series.
func (w *writer) step(stream int, one *step) []string {
	if one.series < 0 {
		return w.computed(stream, one)
	}
	s := &w.program.series[one.series]
	if s.name == "" {
		return w.past(stream, s)
	}
	form := formOf(s.name)
	if form == nil {
		fail(0, "%s has no form in Go yet: add it to forms in strategy/rules/lang/goforms.go, as the words beside it",
			s.name)
	}
	return w.unit(stream, s, form)
}

// computed writes a series that code of the rules computes.
func (w *writer) computed(stream int, one *step) []string {
	w.asks = false
	value := w.addend(one.expr, 0)
	if one.expr.dim.kind == condition {
		value = "is.number(" + w.condition(one.expr, 0) + ")"
		w.asks = true
	} else if w.asks {
		value = "is.figure(" + value + ")"
	} else {
		value = bounded(value, one.expr)
	}
	label := w.label(one.expr, 0)
	need := w.warm(one.expr)
	w.cells[one.cell] = w.declared(label, "", "float64", need)
	return []string{w.cells[one.cell].read + " = " + value}
}

// bounded is a value that is unknown where it is infinite. What is small never is.
func bounded(value string, e *expr) string {
	grows := 0
	var visit func(e *expr)
	visit = func(e *expr) {
		switch {
		case e.op == opExp, e.op == opPow, e.op == opConst && math.Abs(e.num) > 1e9:
			grows += 9
		case e.op == opMul, e.op == opDiv:
			grows++
		}
		for _, k := range e.kids {
			visit(k)
		}
	}
	if visit(e); grows < 9 {
		return value
	}
	return "finite(" + value + ")"
}

// past writes a series k candles ago.
func (w *writer) past(stream int, s *series) []string {
	from := w.cells[s.from[0]]
	ago := w.argument(s, 0, false)
	label := fmt.Sprintf("%s[%s]", from.label, w.label(s.given[0], 0))
	need := from.warm.plus(stream, int(s.args[0]), "")
	if s.given[0].symbol() != "" {
		need = from.warm.plus(stream, 0, ago)
	}
	x := w.declared(label, "", "past", need)
	w.code.Make = append(w.code.Make, fmt.Sprintf("%s: newPast(%s),", x.field, ago))
	x.read = "f." + x.field + ".value"
	w.cells[s.to] = x
	return []string{fmt.Sprintf("f.%s.push(%s)", x.field, w.read(s.from[0]))}
}

// declaration is how an indicator is declared, made and pushed to.
type declaration struct{ kind, call, push, inner string }

// unit writes an indicator.
func (w *writer) unit(stream int, s *series, form *form) []string {
	m := w.pushed(s, form)
	need := warm{}
	for _, cell := range s.from {
		need = need.or(w.cells[cell].warm)
	}
	f := find(s.name)
	x := w.declared(w.unitLabel(stream, s, f), "", m.kind, need)
	if m.call != "" {
		w.code.Make = append(w.code.Make, x.field+": "+m.call+",")
	}
	if s.symbols() != "" {
		x.warm = need.plus(stream, -1, "f."+x.field+".Warmup()")
	} else {
		x.warm = need.plus(stream, s.unit().warmup()-1, "")
	}
	for i := range max(len(s.ticks), 1) {
		line := *x
		line.read = w.line(s, form, &m, x.field, i)
		if name := f.lineName(i); name != "" && len(f.lines) > 1 && (i > 0 || f.must) {
			line.label += "." + name
		}
		w.cells[s.to+i] = &line
	}
	return []string{"f." + x.field + "." + m.push}
}

// line is the code that reads the ith line of an indicator.
func (w *writer) line(s *series, form *form, m *declaration, field string, i int) string {
	read := form.lines
	switch {
	case read == nil && i == 1: // of highest and lowest
		return "known(&f." + field + ", f." + field + ".ago())"
	case read == nil && m.inner == "f.NAME":
		return "value(&f." + field + ")"
	case read == nil:
		read = []string{"$.Value()"}
	}
	text := strings.ReplaceAll(read[i], "$", strings.ReplaceAll(m.inner, "NAME", field))
	if strings.HasPrefix(m.kind, "over[") && s.ticks[i] {
		text = "float64(" + text + "*f." + field + ".by)"
	}
	return "known(&f." + field + ", " + text + ")"
}

// pushed is how an indicator takes its series.
func (w *writer) pushed(s *series, form *form) declaration {
	kind, call, length := w.constructor(s, form)
	m := declaration{kind: kind, call: call, push: "Push(c)", inner: "f.NAME"}
	ofPrice := len(s.from) > 0 && w.isPrice(s.from[0])
	if ofPrice && (form.kind == takesPrices || form.kind == takesExtremes && !w.readsAgo(s)) {
		field, _, _ := strings.Cut(w.cells[s.from[0]].label, "(")
		m.push = "Push(c." + strings.ToUpper(field[:1]) + field[1:] + ")"
		return m
	}
	var reads []string
	for _, cell := range s.from {
		reads = append(reads, w.read(cell))
	}
	if reads != nil {
		m.push = "push(" + strings.Join(reads, ", ") + ")"
	}
	switch form.kind {
	case takesPrices:
		m.call = fmt.Sprintf("newOver(%s, %d, %s)", call, w.bits(s, 0), length)
		m.kind, m.inner = fmt.Sprintf("over[%s, *%s]", kind, kind), "f.NAME.x"
	case takesFloats:
		m.call, m.kind, m.inner = "newFloats("+call+")", fmt.Sprintf("floats[%s, *%s]", kind, kind), "f.NAME.x"
	case takesExtremes:
		m.call = fmt.Sprintf("new%s(%s)", strings.ToUpper(s.name[:1])+s.name[1:], w.argument(s, 0, false))
		m.kind = "extreme"
	case takesMedian:
		m.kind, m.call = "median", "newMedian("+w.argument(s, 0, false)+")"
	case takesPair:
		m.call = fmt.Sprintf("newPairs(%s, %d, %d, %s)", call, w.bits(s, 0), w.bits(s, 1), length)
		m.kind = "pairs"
	case takesCondition:
		m.kind, m.call = "since", ""
	case takesBoth:
		m.kind, m.call = "when", "newWhen("+w.argument(s, 0, false)+")"
	}
	return m
}

// lineName is the name of the ith line that is no text.
func (f *function) lineName(i int) string {
	for _, l := range f.lines {
		if l.body != "" {
			continue
		}
		if i == 0 {
			return l.name
		}
		i--
	}
	return ""
}

// constructor is the type of an indicator, the call that makes it, and its largest argument.
func (w *writer) constructor(s *series, form *form) (kind, call, longest string) {
	name, numbers, _ := strings.Cut(form.make, " ")
	var args []string
	for _, at := range strings.Fields(numbers) {
		if at == "day" {
			args = append(args, "interval")
			if stream := w.streamOfUnit(s); stream > 0 {
				args[len(args)-1] = goInterval(w.program.streams[stream].interval)
			}
			continue
		}
		n, _ := strconv.Atoi(strings.TrimSuffix(at, "f"))
		args = append(args, w.argument(s, n, strings.HasSuffix(at, "f")))
	}
	longest = strconv.Itoa(s.longest())
	if s.symbols() != "" {
		var all []string
		for i := range s.given {
			all = append(all, w.argument(s, i, false))
			if i < len(s.args) && s.args[i] != math.Trunc(s.args[i]) {
				all[i] = strconv.Itoa(int(s.args[i]))
			}
		}
		if longest = all[0]; len(all) > 1 {
			longest = "max(" + strings.Join(all, ", ") + ")"
		}
	}
	return "indicator." + name, "indicator.New" + name + "(" + strings.Join(args, ", ") + ")", longest
}

// streamOfUnit is the stream whose candles a unit takes.
func (w *writer) streamOfUnit(s *series) int {
	for i := range w.program.streams {
		for _, one := range w.program.streams[i].steps {
			if one.series >= 0 && w.program.series[one.series].to == s.to {
				return i
			}
		}
	}
	return several
}

// goInterval is the constant of an interval.
func goInterval(interval market.Interval) string { return "market.Interval" + interval.String() }

// isPrice reports whether a cell is a price of a candle.
func (w *writer) isPrice(cell int) bool {
	for _, s := range w.program.streams {
		if s.fields <= cell && cell < s.fields+fields-1 {
			return true
		}
	}
	return false
}

// readsAgo reports whether something reads the second line of a series.
func (w *writer) readsAgo(s *series) bool {
	reads := false
	var visit func(e *expr)
	visit = func(e *expr) {
		reads = reads || e.op == opCell && e.cell == s.to+1
		for _, k := range e.kids {
			visit(k)
		}
	}
	for _, r := range w.program.rules {
		visit(r.expr)
	}
	for i := range w.program.series {
		reads = reads || slices.Contains(w.program.series[i].from, s.to+1)
	}
	for _, list := range append([][]step{w.program.mixed}, w.allSteps()...) {
		for i := range list {
			if list[i].expr != nil {
				visit(list[i].expr)
			}
		}
	}
	for _, stream := range w.program.streams {
		for _, x := range stream.shifts {
			reads = reads || x.from == s.to+1
		}
	}
	return reads
}

func (w *writer) allSteps() (all [][]step) {
	for i := range w.program.streams {
		all = append(all, w.program.streams[i].steps)
	}
	return all
}

// bits is the size of a series that is cut to a fixed point, -1 for whole numbers.
func (w *writer) bits(s *series, i int) int {
	if s.of[i].kind == condition || slices.ContainsFunc(w.program.streams, func(of stream) bool {
		return of.fields <= s.from[i] && s.from[i] < of.fields+fields
	}) {
		return -1
	}
	return s.of[i].largest()
}

// argument is a number of a series as code of newFigures.
func (w *writer) argument(s *series, i int, float bool) string {
	e := s.given[i]
	if e.symbol() == "" {
		return goNumber(s.args[i])
	}
	if !float && e.param != "" && w.program.lengths[e.param] && !e.part {
		return "p." + w.code.Params[e.param]
	}
	text := w.number(e, "p.", 0)
	if float {
		return text
	}
	return "whole(" + text + ")"
}

// params gives the params names of fields of a struct Params, which a strategy embeds.
func (w *writer) params() {
	taken := map[string]bool{}
	for _, name := range strings.Fields("Base Params PerMarket OnCandle OnTicker OnBook OnFill OnSignal OnTimer " +
		"OnCloseFailed In Save Load Notes Size ExitAfter Cooldown Add BreakEven StopRate TargetRate TrailRate") {
		taken[name] = true
	}
	w.code.Params = map[string]string{}
	for _, name := range w.program.names {
		field := goName(name)
		field = strings.ToUpper(field[:1]) + field[1:]
		for taken[field] {
			field += "X"
		}
		taken[field], w.code.Params[name] = true, field
	}
}

// goNumber is a number that never changes.
func goNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// needs writes the warm-ups.
func (w *writer) needs() {
	all := make([]warm, len(w.program.streams))
	for i := range w.program.rules {
		if w.program.rules[i].want == Drawn { // no decision waits for it
			continue
		}
		for stream, sums := range w.warm(w.program.rules[i].expr) {
			if all[stream] == nil {
				all[stream] = warm{}
			}
			all[stream] = all[stream].or(warm{stream: sums})
		}
	}
	for i := range w.program.streams {
		need := Need{Warmup: "1"}
		if i > 0 {
			need = Need{w.program.streams[i].interval, "0"}
		}
		if sums := all[i][i]; len(sums) > 0 {
			need.Warmup = sums.text()
		}
		w.code.Needs = append(w.code.Needs, need)
	}
}
