package lang

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Precedence of Go's operators.
const (
	goesOr = iota + 1
	goesAnd
	goesSum = iota + 2
	goesProduct
	goesUnary
)

// bracketed puts brackets around what binds less than is wanted.
func bracketed(text string, binds, least int) string {
	if binds < least {
		return "(" + text + ")"
	}
	return text
}

// condition is a condition as code.
func (w *writer) condition(e *expr, least int) string {
	if e.let != "" && (e.op > opCell || e.op == opIsNaN) {
		return w.letOf(e)
	}
	return w.conditionOf(e, least)
}

func (w *writer) conditionOf(e *expr, least int) string {
	switch e.op {
	case opConst:
		return strconv.FormatBool(e.num != 0)
	case opNot:
		return "!" + w.condition(e.kids[0], goesUnary)
	case opAnd, opOr:
		sign, binds := " && ", goesAnd
		if e.op == opOr {
			sign, binds = " || ", goesOr
		}
		return bracketed(w.condition(e.kids[0], binds)+sign+w.condition(e.kids[1], binds), binds, least)
	case opCrossUp, opCrossDown:
		w.asks = true
		name := map[op]string{opCrossUp: "crossover", opCrossDown: "crossunder"}[e.op]
		return fmt.Sprintf("is.%s(%s, %s, %s, %s)", name, w.value(e.kids[0], 0), w.value(e.kids[1], 0),
			w.value(e.kids[2], 0), w.value(e.kids[3], 0))
	case opLess, opAtMost, opMore, opAtLeast, opEqual, opNotEqual:
		w.asks = true
		name := map[op]string{opLess: "below", opAtMost: "atMost", opMore: "above", opAtLeast: "atLeast",
			opEqual: "equal", opNotEqual: "equal"}[e.op]
		text := fmt.Sprintf("is.%s(%s, %s)", name, w.value(e.kids[0], 0), w.value(e.kids[1], 0))
		if e.op == opNotEqual {
			text = "!" + text
		}
		return text
	case opIsNaN:
		return "math.IsNaN(" + w.value(e.kids[0], 0) + ")"
	case opInput:
		if int(e.num) == 0 {
			w.moment = true
			w.input("inPosition")
			return "now.inPosition"
		}
	case opChoose:
		c := w.condition(e.kids[0], goesAnd)
		no := "!" + w.condition(e.kids[0], goesUnary)
		return bracketed(c+" && "+w.condition(e.kids[1], goesAnd)+" || "+no+" && "+w.condition(e.kids[2], goesAnd),
			goesOr, least)
	}
	w.asks = true
	if e.op > opCell {
		w.missing(e)
	}
	return "is.yes(" + w.value(e, 0) + ")"
}

// letOf calls the method of a let name, which it writes if it is new.
func (w *writer) letOf(e *expr) string {
	asks, moment := w.asks, w.moment
	w.asks, w.moment = false, false
	m := Method{Result: "float64"}
	if e.dim.kind == condition {
		m.Result, m.Body = "bool", w.conditionOf(e, 0)
	} else {
		if m.Body = w.valueOf(e, 0); e.op == opMul {
			m.Body = "float64(" + m.Body + ")"
		}
	}
	m.Asks, m.Moment = w.asks, w.moment
	w.asks, w.moment = w.asks || asks, w.moment || moment
	key := fmt.Sprint(e.let, " ", m.Body)
	name, known := w.lets[key]
	if !known {
		name = w.name(e.let)
		m.Name, m.Doc = name, e.let
		w.lets[key] = name
		w.code.Lets = append(w.code.Lets, m)
	}
	return "f." + name + m.arguments()
}

// arguments are those of a call of a method.
func (m *Method) arguments() string {
	var all []string
	if m.Asks {
		all = append(all, "is")
	}
	if m.Moment {
		all = append(all, "now")
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// plain reports whether an expression compares nothing.
func (e *expr) plain() bool {
	return e.op <= opCell && e.op != opChoose && !slices.ContainsFunc(e.kids, func(k *expr) bool { return !k.plain() })
}

// value is a figure as code.
func (w *writer) value(e *expr, least int) string {
	if e.let != "" && e.op != opConst && e.op != opCell && e.op != opInput {
		if e.dim.kind == condition {
			return "number(" + w.condition(e, 0) + ")"
		}
		return w.letOf(e)
	}
	return w.valueOf(e, least)
}

func (w *writer) valueOf(e *expr, least int) string {
	v := func(i int) string { return w.addend(e.kids[i], 0) }
	switch e.op {
	case opCell:
		return w.read(e.cell)
	case opConst:
		return w.constant(e, least)
	case opInput:
		w.moment = true
		return w.inputOf(e)
	case opAdd, opSub, opMul:
		return w.sum(e, least)
	case opDiv:
		if b := e.kids[1]; b.op == opConst && b.symbol() == "" && b.num != 0 && w.bare(b) {
			return bracketed(w.value(e.kids[0], goesProduct)+" / "+w.value(b, goesUnary), goesProduct, least)
		}
		return "quotient(" + v(0) + ", " + v(1) + ")"
	case opMin:
		return "min(" + v(0) + ", " + v(1) + ")"
	case opMax:
		return "max(" + v(0) + ", " + v(1) + ")"
	case opAbs:
		return "math.Abs(" + v(0) + ")"
	case opSqrt:
		return "math.Sqrt(" + v(0) + ")"
	case opLog:
		return "logarithm(" + v(0) + ")"
	case opExp:
		return "math.Exp(" + v(0) + ")"
	case opFloor:
		return "math.Floor(" + v(0) + ")"
	case opCeil:
		return "math.Ceil(" + v(0) + ")"
	case opRound:
		return "math.Round(" + v(0) + ")"
	case opSign:
		return "sign(" + v(0) + ")"
	case opMod:
		return "math.Mod(" + v(0) + ", " + v(1) + ")"
	case opPow:
		return "math.Pow(" + v(0) + ", " + v(1) + ")"
	case opFill:
		return "fill(" + v(0) + ", " + v(1) + ")"
	case opChoose:
		if e.kids[1].plain() && e.kids[2].plain() {
			return "pick(" + w.condition(e.kids[0], 0) + ", " + v(1) + ", " + v(2) + ")"
		}
		return "func() float64 {\nif " + w.condition(e.kids[0], 0) + " {\nreturn " + v(1) + "\n}\nreturn " + v(2) +
			"\n}()"
	}
	if e.op < opOr {
		w.missing(e)
	}
	return "number(" + w.condition(e, 0) + ")"
}

// missing fails: the code knows no such word.
func (w *writer) missing(e *expr) {
	fail(0, "%s has no form in Go yet: add its operation to valueOf and folded in strategy/rules/lang/gotext.go",
		e.text)
}

// bare reports whether a number has no unit.
func (w *writer) bare(e *expr) bool { return e.dim.price == 0 && e.dim.volume == 0 && e.converts == 0 }

// sum is a calculation with a sign.
func (w *writer) sum(e *expr, least int) string {
	a, b := e.kids[0], e.kids[1]
	if w.fixed(a) && w.fixed(b) {
		return goNumber(compute(e.op, a.num, b.num))
	}
	if e.op == opMul {
		return bracketed(w.value(a, goesProduct)+" * "+w.value(b, goesUnary), goesProduct, least)
	}
	if e.op == opSub && w.fixed(a) && a.num == 0 {
		return bracketed("0 - "+w.addend(b, goesProduct), goesSum, least)
	}
	sign, right := " + ", goesProduct
	if e.op == opSub {
		sign = " - "
	}
	return bracketed(w.addend(a, goesSum)+sign+w.addend(b, right), goesSum, least)
}

// addend is a side of a sum. A product is rounded by itself first, as the rules do it: some
// processors would round once for both.
func (w *writer) addend(e *expr, least int) string {
	if e.op == opMul && e.let == "" && !(w.fixed(e.kids[0]) && w.fixed(e.kids[1])) {
		return "float64(" + w.value(e, 0) + ")"
	}
	return w.value(e, least)
}

// fixed reports whether a number is the same in each market and for each param.
func (w *writer) fixed(e *expr) bool { return e.op == opConst && e.symbol() == "" && w.bare(e) }

// constant is a number of the rules.
func (w *writer) constant(e *expr, least int) string {
	if e.dim.kind == label {
		return e.action()
	}
	if e.symbol() == "" && (w.bare(e) || e.num == 0) {
		text := goNumber(e.num)
		if e.num < 0 {
			text = bracketed(text, goesUnary, least)
		}
		return text
	}
	if w.bare(e) {
		return w.number(e, "f.p.", least)
	}
	key := constant{num: e.num, price: e.dim.price, volume: e.dim.volume, converts: e.converts, symbol: e.symbol()}
	field, known := w.levels[key]
	if !known {
		text := w.label(e, 0)
		name := goName("level " + text)
		if e.converts == convertsMoney {
			name, text = "moneyUnit", "1 of the money, in units of price times amount"
		}
		for n := 2; w.taken[name]; n++ {
			name = fmt.Sprint(goName("level "+text), "x", n)
		}
		w.taken[name] = true
		w.code.Fields = append(w.code.Fields, Field{name, "float64", text + ", in the market's units"})
		w.code.Make = append(w.code.Make, fmt.Sprintf("%s: units(%s, %s),", name, w.number(e, "p.", 0), digitsOf(e)))
		field = "f." + name
		w.levels[key] = field
	}
	return field
}

// digitsOf is the power of ten of a number with units.
func digitsOf(e *expr) string {
	var all []string
	add := func(power int8, name string) {
		switch {
		case power == 1:
			all = append(all, "int(m."+name+")")
		case power != 0:
			all = append(all, fmt.Sprintf("%d*int(m.%s)", power, name))
		}
	}
	add(e.dim.price, "PriceDigits")
	add(e.dim.volume, "VolumeDigits")
	if e.converts == convertsMoney {
		add(-e.dim.price, "QuoteDigits")
	}
	return strings.ReplaceAll(strings.Join(all, " + "), "+ -1*", "- ")
}

// action is a word of a signal.
func (e *expr) action() string {
	names := map[string]string{"buy": "ActBuy", "sell": "ActSell", "exit": "ActExit", "long": "StanceLong",
		"flat": "StanceFlat"}
	return "float64(market." + names[strings.Trim(e.text, `"'`)] + ")"
}

// number is a number that params have a part in.
func (w *writer) number(e *expr, p string, least int) string {
	if e.symbol() == "" {
		return goNumber(e.num)
	}
	inner := 0
	if e.part {
		inner = goesProduct
	}
	text := ""
	if e.folded != nil {
		text = w.folded(e.folded, p, max(inner, least))
	} else if text = p + w.code.Params[e.param]; w.program.lengths[e.param] {
		text = "float64(" + text + ")"
	}
	if e.part {
		text = bracketed(text+" / 100", goesProduct, least)
	}
	return text
}

// folded is a calculation of numbers.
func (w *writer) folded(e *expr, p string, least int) string {
	var kids []string
	for i, k := range e.kids {
		at := 0
		switch e.op {
		case opAdd, opSub:
			at = goesSum + i
		case opMul, opDiv:
			at = goesProduct + i
		}
		text := w.number(k, p, at)
		if (e.op == opAdd || e.op == opSub) && k.folded != nil && k.folded.op == opMul && !k.part {
			text = "float64(" + w.number(k, p, 0) + ")"
		}
		kids = append(kids, text)
	}
	switch e.op {
	case opAdd:
		return bracketed(kids[0]+" + "+kids[1], goesSum, least)
	case opSub:
		return bracketed(kids[0]+" - "+kids[1], goesSum, least)
	case opMul:
		return bracketed(kids[0]+" * "+kids[1], goesProduct, least)
	case opDiv:
		return "quotient(" + kids[0] + ", " + kids[1] + ")"
	}
	names := map[op]string{opMin: "min", opMax: "max", opAbs: "math.Abs", opSqrt: "math.Sqrt", opLog: "logarithm",
		opExp: "math.Exp", opFloor: "math.Floor", opCeil: "math.Ceil", opRound: "math.Round", opSign: "sign",
		opFill: "fill", opMod: "math.Mod", opPow: "math.Pow"}
	if names[e.op] == "" {
		w.missing(e)
	}
	return names[e.op] + "(" + strings.Join(kids, ", ") + ")"
}

// input notes that a rule reads an input.
func (w *writer) input(name string) {
	if !slices.Contains(w.code.Moment, name) {
		w.code.Moment = append(w.code.Moment, name)
	}
}

// inputOf is an input as code.
func (w *writer) inputOf(e *expr) string {
	i := int(e.num)
	if i < firstSignal {
		name := goName(inputs[i].name)
		w.input(name)
		if i == 0 {
			return "number(now." + name + ")"
		}
		return "now." + name
	}
	i -= firstSignal
	signal, part := w.program.signals[i/len(signalParts)], signalParts[i%len(signalParts)].name
	h := Heard{signal, part, goName(signal + " " + part)}
	for _, have := range w.code.Signals {
		if have.Signal == signal && have.Part == part {
			return "now." + have.Field
		}
	}
	for n := 2; slices.ContainsFunc(w.code.Signals, func(have Heard) bool { return have.Field == h.Field }); n++ {
		h.Field = goName(signal+" "+part) + "x" + strconv.Itoa(n)
	}
	w.code.Signals = append(w.code.Signals, h)
	return "now." + h.Field
}

// label is an expression as a rule has it.
func (w *writer) label(e *expr, least int) string {
	if e.let != "" {
		return e.let
	}
	kid := func(i, least int) string { return w.label(e.kids[i], least) }
	two := func(sign string, binds int) string {
		return bracketed(kid(0, binds)+" "+sign+" "+kid(1, binds+1), binds, least)
	}
	for sign, o := range operators {
		if o == e.op {
			return two(sign, binds[sign])
		}
	}
	switch e.op {
	case opCell:
		return w.cells[e.cell].label
	case opConst:
		return e.written()
	case opInput:
		return e.text
	case opNot:
		return bracketed("not "+kid(0, bindsNot), bindsNot, least)
	case opCrossUp:
		return two("crosses above", bindsOrder)
	case opCrossDown:
		return two("crosses below", bindsOrder)
	case opChoose:
		return bracketed(kid(0, 1)+" ? "+kid(1, 1)+" : "+kid(2, 1), 0, least)
	}
	name := ""
	for i := range functions {
		if functions[i].op == e.op && functions[i].op != 0 {
			name = functions[i].name
		}
	}
	var all []string
	for i := range e.kids {
		all = append(all, kid(i, 0))
	}
	return name + "(" + strings.Join(all, ", ") + ")"
}

// written is a number as a rule has it.
func (e *expr) written() string {
	switch {
	case e.param != "":
		return e.param
	case e.dim.kind == condition:
		return strconv.FormatBool(e.num != 0)
	case e.folded != nil && len(e.folded.kids) == 2 && e.symbol() != "":
		for sign, o := range operators {
			if o == e.folded.op {
				return e.folded.kids[0].written() + " " + sign + " " + e.folded.kids[1].written()
			}
		}
	case e.dim.kind == label:
		return e.text
	}
	if e.num == math.Trunc(e.num) && math.Abs(e.num) < 1e15 {
		return strconv.FormatFloat(e.num, 'f', -1, 64)
	}
	return goNumber(e.num)
}

// unitLabel is an indicator as a rule has it, without its line.
func (w *writer) unitLabel(stream int, s *series, f *function) string {
	var args []string
	own := true
	for _, cell := range s.from {
		label := w.cells[cell].label
		if f.source == "close" && (label == "close" || strings.HasPrefix(label, `close("`)) {
			continue
		}
		own = false
		args = append(args, label)
	}
	for _, e := range s.given {
		args = append(args, w.label(e, 0))
	}
	if own && stream > 0 {
		args = append(args, fmt.Sprintf("%q", w.program.streams[stream].interval))
	}
	if len(args) == 0 {
		return s.name
	}
	return s.name + "(" + strings.Join(args, ", ") + ")"
}
