package lang

import (
	"fmt"
	"strconv"
	"strings"
)

// rule writes the method of a rule, and that which says why it is true.
func (w *writer) rule(r *rule) Method {
	w.asks, w.moment = false, false
	m := Method{Name: r.key, Result: "float64"}
	if r.want == Drawn {
		m.Name = w.name("drawn " + r.expr.text)
	}
	if r.expr.dim.kind == condition {
		m.Result, m.Body = "bool", w.condition(r.expr, 0)
	} else {
		m.Body = w.value(r.expr, 0)
	}
	m.Asks, m.Moment = w.asks, w.moment
	if m.OnPrices = r.expr.dim.drawnOnPrices(); r.want == Drawn && !m.OnPrices && powerOf(r.expr.dim) != "" {
		m.Body = w.value(r.expr, goesProduct) + " / math.Pow10(" + powerOf(r.expr.dim) + ")"
	}
	if m.Result == "bool" {
		w.moment = false
		m.Why = w.why(r.expr)
		m.WhyMoment = w.moment
	}
	return m
}

// why are the lines of a function that says why a condition is true.
func (w *writer) why(e *expr) []string {
	facts := w.facts(e, true)
	plain := true
	for _, f := range facts {
		plain = plain && f.lines == nil
	}
	if plain {
		var all text
		for i, f := range facts {
			if i > 0 {
				all = all.and(quoted(", "))
			}
			all = all.and(f.text)
		}
		lines := []string{"return " + all.String()}
		if strings.Contains(lines[0], "(is") || strings.Contains(lines[0], "is.") {
			lines = append([]string{"is := &truth{}"}, lines...)
		}
		return lines
	}
	lines := []string{"var all []string", "is := &truth{}"}
	lines = append(lines, linesOf(facts)...)
	lines = append(lines, `return strings.Join(all, ", ")`)
	return lines
}

// fact is a text of the tag, or lines that add some.
type fact struct {
	text  text
	lines []string
}

func linesOf(facts []fact) (lines []string) {
	for _, f := range facts {
		if f.lines != nil {
			lines = append(lines, f.lines...)
		} else {
			lines = append(lines, "all = append(all, "+f.text.String()+")")
		}
	}
	return lines
}

// text is a text of the tag as code: literals and calls in turn.
type text []string

func quoted(s string) text { return text{"\"" + s} }

// and is a text behind another one.
func (t text) and(more text) text {
	for _, part := range more {
		if n := len(t) - 1; n >= 0 && t[n][0] == '"' && part[0] == '"' {
			t = append(t[:n:n], t[n]+part[1:])
		} else {
			t = append(t[:len(t):len(t)], part)
		}
	}
	return t
}

func (t text) String() string {
	var all []string
	for _, part := range t {
		if part[0] == '"' {
			part = strconv.Quote(part[1:])
			if strings.Contains(part, `\"`) && !strings.Contains(part, "`") {
				plain, err := strconv.Unquote(part)
				if err == nil && strconv.CanBackquote(plain) {
					part = "`" + plain + "`"
				}
			}
		}
		all = append(all, part)
	}
	return strings.Join(all, " + ")
}

// facts are the comparisons that make a condition true, or false, as package lang explains it: what
// is true at the same time is known from the rule, but for an or.
func (w *writer) facts(e *expr, is bool) []fact {
	switch e.op {
	case opNot:
		return w.facts(e.kids[0], !is)
	case opAnd, opOr:
		if is == (e.op == opAnd) {
			return append(w.facts(e.kids[0], is), w.facts(e.kids[1], is)...)
		}
		var all []fact
		when := func(k *expr, is bool) {
			way := map[bool]string{true: "holds", false: "fails"}[is]
			lines := append([]string{fmt.Sprintf("if is.%s(%s) {", way, w.condition(k, 0))}, linesOf(w.facts(k, is))...)
			all = append(all, fact{lines: append(lines, "}")})
		}
		for _, k := range e.kids {
			when(k, is)
		}
		for _, k := range e.kids {
			if e.op == opAnd {
				when(k, true)
			}
		}
		return all
	case opCrossUp, opCrossDown:
		way := "crosses above"
		if e.op == opCrossDown {
			way = "crosses below"
		}
		if !is {
			way = strings.Replace(way, "crosses", "does not cross", 1)
		}
		return []fact{{text: w.shown(e.kids[0]).and(quoted(" " + way + " ")).and(w.shown(e.kids[1])).
			and(quoted(" (before: ")).and(w.figure("", e.kids[2])).and(quoted(" and ")).and(w.figure("", e.kids[3])).
			and(quoted(")"))}}
	case opLess, opAtMost, opMore, opAtLeast, opEqual, opNotEqual:
		return []fact{{text: w.shown(e.kids[0]).and(quoted(" " + signOf(e.op, is) + " ")).and(w.shown(e.kids[1]))}}
	}
	if !is {
		return []fact{{text: quoted("not " + e.text)}}
	}
	return []fact{{text: quoted(e.text)}}
}

// shown is a part with its number.
func (w *writer) shown(e *expr) text {
	switch {
	case e.dim.kind == label && e.op == opInput:
		kind := "Stance"
		if isAction(e) {
			kind = "Action"
		}
		return append(quoted(e.text+" "), fmt.Sprintf("market.%s(%s).String()", kind, w.value(e, 0)))
	case isNumber(e.text) || e.dim.kind == label:
		return quoted(e.text)
	}
	return w.figure(e.text, e)
}

// figure is the call that writes a number as a person would, behind its name.
func (w *writer) figure(name string, e *expr) text {
	value := w.value(e, 0)
	if e.dim.kind == condition {
		value = "is.number(" + w.condition(e, 0) + ")"
	} else if !e.plain() {
		value = "is.figure(" + value + ")"
	}
	name = strconv.Quote(name)
	if strings.Contains(name, `\"`) && !strings.ContainsAny(e.text, "`\n") {
		name = "`" + e.text + "`"
	}
	switch {
	case e.dim == aPrice:
		return text{fmt.Sprintf("f.inPrice(%s, %s)", name, value)}
	case e.dim.price == 0 && e.dim.volume == 0:
		return text{fmt.Sprintf("figure(%s, %s, 0)", name, value)}
	}
	return text{fmt.Sprintf("figure(%s, %s, %s)", name, value, powerOf(e.dim))}
}

// powerOf is the power of ten of a dimension in the figures.
func powerOf(d dim) string {
	var all []string
	for _, p := range []struct {
		power int8
		name  string
	}{{d.price, "f.priceDigits"}, {d.volume, "f.volumeDigits"}} {
		switch {
		case p.power == 1:
			all = append(all, p.name)
		case p.power != 0:
			all = append(all, fmt.Sprintf("%d*%s", p.power, p.name))
		}
	}
	return strings.Join(all, "+")
}

// fields puts the prices of candles that rules read before the other fields, and lets a push set
// them.
func (w *writer) fields() {
	var fields []Field
	var begin []string
	for i := range w.program.streams {
		var to, from []string
		for k, name := range fieldNames {
			one := w.cells[w.program.streams[i].fields+k]
			if !one.used {
				continue
			}
			to = append(to, one.read)
			from = append(from, "float64(c."+strings.ToUpper(name[:1])+name[1:]+")")
			fields = append(fields, Field{one.field, "float64", one.label})
			begin = append(begin, one.field+": unknown(),")
		}
		lines := w.code.Pushes[i].Lines
		for j, line := range lines {
			switch {
			case line != "CANDLE":
			case to == nil:
				lines = append(lines[:j:j], lines[j+1:]...)
			default:
				lines[j] = strings.Join(to, ", ") + " = " + strings.Join(from, ", ")
			}
		}
		w.code.Pushes[i].Lines = lines
	}
	w.code.Fields, w.code.Make = append(fields, w.code.Fields...), append(begin, w.code.Make...)
}
