package lang

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Explain says in words why a rule has its value: the comparisons with their numbers, as they are.
// Of a condition that is false those come first that failed.
func (s *State) Explain(rule int, in *Inputs) string {
	x := explanation{state: s, in: in}
	e := s.program.rules[rule].expr
	if v, ok := s.Eval(rule, in); !ok {
		return strings.Join(x.unknown(e), ", ")
	} else if e.dim.kind == condition {
		return strings.Join(x.facts(e, v == 1), ", ")
	}
	return x.show(e)
}

// explanation reads a rule part by part, with the same code that decides.
type explanation struct {
	state *State
	in    *Inputs
	code  generator // of parts of the rule, whose constants are in cells already
}

// value computes a part of a rule.
func (x *explanation) value(e *expr) (float64, bool) {
	if e.op == opCell || e.op == opConst && e.cell != 0 {
		v := x.state.cells[e.cell]
		return v, v-v == 0
	}
	if x.code.checker == nil {
		x.code.checker = &checker{program: x.state.program}
	}
	x.code.code = x.code.code[:0]
	x.code.rule(e)
	return run(x.code.code, 0, x.state.cells, x.in)
}

// facts are the comparisons that make a condition true, or false.
func (x *explanation) facts(e *expr, is bool) []string {
	switch e.op {
	case opNot:
		return x.facts(e.kids[0], !is)
	case opAnd, opOr:
		if is == (e.op == opAnd) {
			return append(x.facts(e.kids[0], is), x.facts(e.kids[1], is)...)
		}
		var deciding, other []string
		for _, k := range e.kids {
			if v, ok := x.value(k); ok && (v == 1) == is {
				deciding = append(deciding, x.facts(k, is)...)
			} else if ok && e.op == opAnd {
				other = append(other, x.facts(k, true)...)
			}
		}
		return append(deciding, other...)
	case opCrossUp, opCrossDown:
		return []string{x.cross(e, is)}
	case opLess, opAtMost, opMore, opAtLeast, opEqual, opNotEqual:
		return []string{x.show(e.kids[0]) + " " + signOf(e.op, is) + " " + x.show(e.kids[1])}
	}
	if !is {
		return []string{"not " + e.text}
	}
	return []string{e.text}
}

// orders are the signs of comparisons from opLess on, and what is true where they are false.
var orders = [...][2]string{{"<", ">="}, {"<=", ">"}, {">", "<="}, {">=", "<"}, {"==", "!="}, {"!=", "=="}}

// signOf is the sign of a true comparison; of a false one it is the opposite sign, which is true.
func signOf(o op, is bool) string {
	if is {
		return orders[o-opLess][0]
	}
	return orders[o-opLess][1]
}

// cross tells of a crossing.
func (x *explanation) cross(e *expr, is bool) string {
	way := "crosses above"
	if e.op == opCrossDown {
		way = "crosses below"
	}
	if !is {
		way = strings.Replace(way, "crosses", "does not cross", 1)
	}
	a, _ := x.value(e.kids[2])
	b, _ := x.value(e.kids[3])
	return x.show(e.kids[0]) + " " + way + " " + x.show(e.kids[1]) + " (before: " + x.number(a, e.kids[2]) + " and " +
		x.number(b, e.kids[3]) + ")"
}

// unknown names the parts that are not defined.
func (x *explanation) unknown(e *expr) (all []string) {
	if _, ok := x.value(e); ok {
		return nil
	}
	for _, k := range e.kids {
		all = append(all, x.unknown(k)...)
	}
	if len(all) == 0 {
		return []string{e.text + " is not known"}
	}
	return all
}

// show is a part with its number.
func (x *explanation) show(e *expr) string {
	v, ok := x.value(e)
	if !ok {
		return e.text + " (not known)"
	}
	n := x.number(v, e)
	if e.dim.kind == label {
		if n = e.text; e.op == opInput {
			n += " " + wordOf(e, v)
		}
		return n
	}
	if isNumber(e.text) {
		return e.text
	}
	return e.text + " " + n
}

// Shown is a figure for a chart: a price in price units, others as a person writes them. It is NaN
// where it is not defined.
func (s *State) Shown(rule int, in *Inputs) (v float64, price bool) {
	v, ok := s.Eval(rule, in)
	if !ok {
		v = undefined()
	}
	d := s.program.rules[rule].expr.dim
	if d.drawnOnPrices() {
		return v, true
	}
	return v / math.Pow10(int(d.price)*int(s.main.PriceDigits)+int(d.volume)*int(s.main.VolumeDigits)), false
}

// drawnOnPrices reports whether a figure is drawn on the prices.
func (d dim) drawnOnPrices() bool { return d == aPrice || d == (dim{kind: amount, price: 1}) }

// isNumber reports whether a text of a rule is a number.
func isNumber(text string) bool {
	if text == "" || letter(text[0]) || text[0] == '(' { // most are; an error of ParseFloat is dear
		return false
	}
	_, err := strconv.ParseFloat(strings.TrimSuffix(strings.ReplaceAll(text, "_", ""), "%"), 64)
	return err == nil
}

// number writes a figure as a person would.
func (x *explanation) number(v float64, e *expr) string {
	if v == math.MaxFloat64 { // candles since something that never was
		return "never"
	}
	m := x.state.main
	if e.dim == aPrice && v == math.Trunc(v) {
		return plain(m.Float(market.Price(v)), int(m.PriceDigits))
	}
	v /= math.Pow10(int(e.dim.price)*int(m.PriceDigits) + int(e.dim.volume)*int(m.VolumeDigits))
	after := 4
	if v != 0 {
		after = max(0, 4-int(math.Ceil(math.Log10(math.Abs(v)))))
	}
	return plain(v, min(after, 12))
}

// plain writes a number with at most so many decimals.
func plain(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
