package lang

import (
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
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
	if f.source != "" && len(args) == len(params)-1 {
		args = append([]*node{{kind: nodeName, text: f.source, from: n.from, begin: n.from, to: n.from}}, args...)
	}
	if len(args) != len(params) {
		fail(n.from, "%s takes %s", n.text, f.usage())
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
	for len(args) > 0 && args[len(args)-1].kind == nodeText {
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
	scope := map[string]*expr{}
	s := series{name: f.name, output: len(f.lines), scale: 1}
	var sources []*expr
	for i, p := range params {
		var e *expr
		switch p[0] {
		case 's', 'a', 'b':
			e = c.series(args[i], c.figure(args[i], f.name))
		case 'c':
			e = c.series(args[i], c.condition(args[i], f.name))
		case 'k':
			s.args = append(s.args, c.constant(args[i], "an argument of "+f.name))
			e = c.number(s.args[len(s.args)-1])
		default:
			s.args = append(s.args, float64(c.whole(args[i], "a length", max(f.least, 1), maxLength)))
			e = c.number(s.args[len(s.args)-1])
		}
		if e.op == opCell {
			sources = append(sources, e)
			s.from = append(s.from, e.cell)
		}
		scope[p] = e
	}
	if f.lines[at].body != "" {
		return c.body(n, f, at, scope)
	}
	return c.indicator(n, f, at, s, sources)
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
	if of.kind != nodeCall && of.kind != nodeName || of.kind == nodeName && find(of.text) == nil {
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
	d := e.dim
	kids := []*expr{e}
	for _, arg := range args[1:] {
		kids = append(kids, c.figure(arg, f.name))
		d = c.unify(n, e, kids[1])
	}
	return c.fold(made(f.op, d, kids...))
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
	where, d, own := c.stream, aPrice, true
	var warm []int
	for i, e := range sources {
		if warm = longer(warm, e.warm); i == 0 {
			where, d = e.where, e.dim
		}
		where = join(where, e.where)
		own = own && c.whole64(e.cell)
	}
	if len(sources) > 0 && !own {
		s.scale = d.steps(s.longest())
	}
	for _, l := range f.lines {
		s.ticks = append(s.ticks, l.dim.kind >= same)
	}
	warm = c.warmer(warm, where, s.unit().warmup())
	cell := c.unit(n, fmt.Sprint(f.name, s.from, s.args, where), where, s)
	return &expr{op: opCell, cell: cell + at, dim: f.lines[at].dim.of(d), where: where, warm: warm}
}

// whole64 reports whether a cell has whole numbers: a field of a candle.
func (c *checker) whole64(cell int) bool {
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

// unit is the cell of the first line of a series, which is made if it is new.
func (c *checker) unit(n *node, key string, where int, s series) int {
	if cell, known := c.known[key]; known {
		return cell
	}
	s.to = c.slot(n, key, max(s.output, 1))
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
