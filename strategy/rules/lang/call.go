package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// call checks a word with what stands in its brackets. name is the line that stands behind it.
func (c *checker) call(n *node, name string) *expr {
	f := find(n.text)
	if f == nil {
		c.unknown(n)
	}
	stream := c.stream
	defer func() { c.stream = stream }()
	args := c.texts(n, f)
	params := strings.Fields(f.params)
	switch {
	case f.name == "between":
		return c.between(n, args)
	case f.name == "nz" && len(args) == 1:
		args = append(args, &node{kind: nodeNumber, from: n.from, begin: n.from, to: n.to})
	case (f.name == "min" || f.name == "max") && len(args) > 2:
		params = make([]string, len(args))
	case f.source != "" && len(args) == len(params)-1:
		args = append([]*node{{kind: nodeName, text: f.source, from: n.from, begin: n.from, to: n.from}}, args...)
	}
	if len(args) != len(params) {
		or := ""
		if _, rest, more := strings.Cut(f.params, " "); more && f.source != "" {
			or = fmt.Sprintf(", or %s(%s) for that of %s", f.name, strings.ReplaceAll(rest, " ", ", "), f.source)
		}
		fail(n.from, "write %s%s; here %s has %d arguments", f.usage(), or, n.text, len(args))
	}
	e := c.result(n, f, args, params, name)
	if from := c.program.streams[c.stream].market; from != c.program.streams[stream].market && !e.dim.bare() &&
		e.dim.kind != condition {
		by := &expr{op: opConst, num: 1, dim: e.dim, market: from, converts: convertsMarket, where: nowhere}
		e = made(opMul, e.dim, e, by)
		e.text = c.source(n)
	}
	return e
}

// texts takes the interval and the market at the end of the arguments.
func (c *checker) texts(n *node, f *function) (args []*node) {
	args = n.kids
	of := c.program.streams[c.stream]
	for len(args) > 0 && args[len(args)-1].kind == nodeText && f.name != "between" {
		t := args[len(args)-1]
		args = args[:len(args)-1]
		if f.op != 0 || f.name == "crossover" || f.name == "crossunder" {
			fail(t.from, "%s takes no interval or market; its arguments may", f.name)
		}
		if base, quote, err := market.SplitName(t.text); err == nil && base != "" && quote != "" {
			of.market = c.other(t.text)
			continue
		}
		interval, err := market.ParseInterval(t.text)
		if err != nil {
			fail(t.from, "%q is no interval (%v) and no market (such as \"BTC-EUR\")", t.text, market.Intervals())
		}
		of.interval = interval
	}
	c.stream = c.streamOf(of.market, of.interval)
	return args
}

// other is the number of another market.
func (c *checker) other(name string) int {
	for i, have := range c.program.reads {
		if have == name {
			return i + 1
		}
	}
	c.program.reads = append(c.program.reads, name)
	return len(c.program.reads)
}

// result is the expression of a function with its arguments.
func (c *checker) result(n *node, f *function, args []*node, params []string, name string) *expr {
	switch {
	case f.name == "crossover" || f.name == "crossunder":
		return c.cross(n, args[0], args[1], f.name == "crossover")
	case f.op != 0:
		return c.operation(n, f, args)
	case len(f.lines) == 0:
		return c.field(f)
	}
	at := f.line(n, name)
	scope, s := map[string]*expr{}, series{name: f.name}
	var sources []*expr
	for i, p := range params {
		e := c.argument(f, args[i], p)
		if scope[p] = e; e.op == opCell {
			sources = append(sources, e)
			s.from = append(s.from, e.cell)
		} else if e.op == opConst && !oneOf(p, figures) {
			s.args, s.given = append(s.args, e.num), append(s.given, e)
		}
	}
	if c.ordered(n, f, s.args); f.daily {
		// 0: rules that are read before their interval is known; the figure waits for its day
		c.program.daily = true
		s.args = append(s.args, float64(cmp.Or(c.program.streams[c.stream].interval, market.Interval1h)))
	}
	if f.lines[at].body != "" {
		return c.body(n, f, at, scope)
	}
	return c.indicator(n, f, at, s, sources)
}

// Names of arguments.
const (
	seriesNames = "s a b"
	figures     = "x y z"
	numbers     = "k start step most"
)

func oneOf(name, names string) bool { return strings.Contains(" "+names+" ", " "+name+" ") }

// argument checks an argument by its name.
func (c *checker) argument(f *function, n *node, name string) *expr {
	switch {
	case oneOf(name, seriesNames):
		e := c.figure(n, f.name)
		if f.make == nil && e.where == nowhere {
			return e // of a function that is a text: cross(rsi(14), 50)
		}
		return c.series(n, e)
	case name == "c":
		return c.series(n, c.condition(n, f.name))
	case oneOf(name, figures):
		return c.figure(n, f.name)
	case oneOf(name, numbers):
		return c.again(c.constant(n, "an argument of "+f.name))
	case name == "ago":
		return c.again(c.whole(n, "how many times before", 0, maxPast))
	}
	return c.again(c.whole(n, "a length", max(f.least, 1), maxLength))
}

// again is a number that takes a dimension anew.
func (c *checker) again(e *expr) *expr {
	number := c.number(e.num)
	number.origin = e.origin
	return number
}

// ordered refuses lengths in the wrong order: Pine's supertrend has the factor first.
func (c *checker) ordered(n *node, f *function, args []float64) {
	if f.order != 0 && float64(f.order)*(args[1]-args[0]) <= 0 {
		than := map[int8]string{1: "smaller", -1: "larger"}[f.order]
		fail(n.from, "%s: the first number is %s than the second; here they are %v and %v", f.usage(), than,
			args[0], args[1])
	}
}

// line is the number of the line with a name.
func (f *function) line(n *node, name string) int {
	var names []string
	for i, l := range f.lines {
		if l.name == name || i == 0 && name == "" && !f.must {
			return i
		}
		names = append(names, l.name)
	}
	if len(names) == 1 {
		fail(n.from, "%s has no lines", f.name)
	}
	fail(n.from, "%s has the lines %s: write %s.%s", f.name, strings.Join(names, ", "), f.usage(), names[len(names)-1])
	return 0
}

// line checks call.name.
func (c *checker) line(n *node) *expr {
	of := n.kids[0]
	if of.kind == nodeName && slices.Contains(c.signals, of.text) {
		return c.signal(n, of.text)
	}
	if of.kind == nodeName && find(of.text) == nil {
		if isPart(n.text) && elsewhere(of.text) == "" {
			if len(c.signals) > 0 {
				fail(of.from, "%s is no source of signals; the nearest is %q", of.text,
					strategy.Nearest(of.text, c.signals))
			}
			fail(of.from, "%s is no source of signals; name it: signals = %q", of.text, of.text)
		}
		c.unknown(of)
	}
	if of.kind != nodeCall && of.kind != nodeName {
		fail(n.from, "%q stands behind the brackets of a word with several lines, such as macd(12, 26, 9).signal",
			"."+n.text)
	}
	return c.call(of, n.text)
}

// field is a price or the volume of the candle.
func (c *checker) field(f *function) *expr {
	at, d := 0, aPrice
	for functions[at].name != f.name {
		at++
	}
	if f.name == "volume" {
		d = aVolume
	}
	return &expr{op: opCell, cell: c.program.streams[c.stream].fields + at, dim: d, where: c.stream,
		warm: c.warmer(nil, c.stream, 1)}
}

// operation is a calculation with the arguments.
func (c *checker) operation(n *node, f *function, args []*node) *expr {
	e := c.figure(args[0], f.name)
	if f.op == opPow {
		return c.power(n, e, c.figure(args[1], f.name))
	}
	for _, arg := range args[1:] {
		y := c.figure(arg, f.name)
		if e.dim.literal() && y.dim.literal() && (e.op != opConst || y.op != opConst) {
			fixed(e, y)
		}
		d := c.unify(n, e, y)
		text := e.text
		e = c.fold(n, made(f.op, d, e, y))
		e.text = text
	}
	if len(args) > 1 {
		e.text = ""
		return e
	}
	if e.op != opConst {
		fixed(e)
	}
	d := e.dim
	switch {
	case f.op == opIsNaN:
		return made(opIsNaN, aCondition, e)
	case f.op == opSign:
		d = dim{kind: ratio}
	case f.op == opSqrt && d.price%2 == 0 && d.volume%2 == 0:
		d = product(dim{kind: ratio}, dim{kind: amount, price: d.price / 2, volume: d.volume / 2}, 1)
	case f.op != opAbs && !d.bare():
		fail(n.begin, "%s takes a number without unit; %s is %v: divide it by another first", f.name, e.text, d)
	}
	return c.fold(n, made(f.op, d, e))
}

// power is x to the y, of numbers without unit.
func (c *checker) power(n *node, x, y *expr) *expr {
	for _, e := range []*expr{x, y} {
		if fixed(e); !e.dim.bare() {
			fail(n.begin, "pow takes numbers without unit; %s is %v: divide it by another first", e.text, e.dim)
		}
	}
	return c.fold(n, made(opPow, dim{kind: ratio}, x, y))
}

// between is a condition of the clock.
func (c *checker) between(n *node, args []*node) *expr {
	var at [2]int
	if len(args) != 2 || args[0].kind != nodeText || args[1].kind != nodeText {
		fail(n.from, "between takes two times of the day: between(\"08:00\", \"16:30\")")
	}
	for i, arg := range args {
		t, err := time.Parse("15:04", arg.text)
		if err != nil {
			fail(arg.from, "%q is no time of the day, such as 08:00", arg.text)
		}
		at[i] = 60*t.Hour() + t.Minute()
	}
	link := "and"
	if at[0] > at[1] {
		link = "or" // over midnight
	}
	f := function{name: n.text, lines: []line{{body: fmt.Sprintf("60 * hour + minute >= %d %s 60 * hour + minute < %d",
		at[0], link, at[1])}}}
	return c.body(n, &f, 0, map[string]*expr{})
}

// body is a function that is written in the language.
func (c *checker) body(n *node, f *function, at int, scope map[string]*expr) (e *expr) {
	text, outer, nodes := c.text, c.scope, c.nodes
	body := f.lines[at].body
	c.text, c.scope = body, scope
	err := within(f.name, body, func() { e = c.expr(parse(body)) })
	c.text, c.scope, c.nodes = text, outer, nodes
	if err != nil {
		fail(n.from, "%s: %s", f.name, err.Message)
	}
	if d := f.lines[at].dim; d.kind != free {
		e.dim = d
	}
	e.text = ""
	return e
}

// indicator is a line of a unit.
func (c *checker) indicator(n *node, f *function, at int, s series, sources []*expr) *expr {
	where, d := c.stream, aPrice
	var warm []int
	var scales [2]float64
	for i, e := range sources {
		if warm = longer(warm, e.warm); i == 0 {
			where = e.where
		}
		where = join(where, e.where)
		if e.dim.kind != condition || i == len(sources)-1 {
			d = e.dim // of valuewhen the series
		}
		s.of = append(s.of, e.dim)
		if scales[i] = e.dim.steps(s.longest()); c.ofCandle(e.cell) || e.dim.kind == condition {
			scales[i] = 1
		}
	}
	s.scale, s.other = scales[0], scales[1]
	for _, l := range f.lines {
		if l.body == "" {
			s.ticks = append(s.ticks, l.dim.kind >= same)
		}
	}
	warm = c.warmer(warm, where, c.tried(n, &s).warmup())
	cell := c.unit(n, fmt.Sprint(f.name, s.from, s.args, where, s.symbols()), where, s)
	e := &expr{op: opCell, cell: cell + at, dim: f.lines[at].dim.of(d), where: where, warm: warm}
	high, line := c.program.streams[c.stream].fields+1, f.name+f.lines[at].name
	switch line {
	case "highest", "lowest":
		e.bound, e.of = map[string]int8{"highest": 1, "lowest": -1}[line], sources[0].cell
	case "donchianupper":
		e.bound, e.of = 1, high
	case "donchianlower":
		e.bound, e.of = -1, high+1
	}
	return e
}

// tried is a unit of a series. What an indicator refuses is a fault of the rule.
func (c *checker) tried(n *node, s *series) (u unit) {
	defer func() {
		x := recover()
		if why, ok := x.(string); ok && strings.HasPrefix(why, "indicator: ") {
			fail(n.from, "%s: it makes %s", c.source(n), strings.TrimPrefix(why, "indicator: "))
		} else if x != nil {
			panic(x)
		}
	}()
	return s.unit()
}

// ofCandle reports whether a cell is a field of a candle: a whole number.
func (c *checker) ofCandle(cell int) bool {
	for _, s := range c.program.streams {
		if s.fields <= cell && cell < s.fields+fields {
			return true
		}
	}
	return false
}

// of is the dimension of a line over a series.
func (d dim) of(series dim) dim {
	switch {
	case d.kind == same:
		return series
	case d.kind == spread && series.price == 1 && series.volume == 0:
		return aDistance
	case d.kind == spread:
		return series
	}
	return d
}

// symbols are the arguments as they were written with params.
func (s *series) symbols() (all string) {
	for _, e := range s.given {
		all += "," + e.symbol()
	}
	return strings.Trim(all, ",")
}

// unit is the cell of the first line of a series, which is made if it is new.
func (c *checker) unit(n *node, key string, where int, s series) int {
	if cell, known := c.known[key]; known {
		return cell
	}
	s.to = c.slot(n, key, max(len(s.ticks), 1))
	c.program.add(where, step{series: len(c.program.series)})
	c.program.series = append(c.program.series, s)
	return s.to
}

// add lets a step follow those of its stream.
func (p *Program) add(where int, one step) {
	if where == several {
		p.mixed = append(p.mixed, one)
		return
	}
	p.streams[where].steps = append(p.streams[where].steps, one)
}
