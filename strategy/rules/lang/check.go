package lang

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Limits of a program.
const (
	maxSlots  = 64
	maxPast   = 500
	maxLength = 5000
)

// expr is a part of a rule whose names and dimensions are known.
type expr struct {
	op       op
	kids     []*expr
	cell     int        // of opCell; of opConst the one of its number, 0 where no code reads it
	num      float64    // of opConst; which input of opInput
	market   int        // of opConst: whose units it has
	converts conversion // of opConst
	dim      dim
	bound    int8 // 1: nothing of the cell `of` can be above it now, -1: below
	of       int
	where    int    // the stream it moves with, or one of the following
	warm     []int  // candles needed of each stream
	text     string // as written
	origin
}

// origin is how a number, or what a let name stands for, was written: package eject writes that.
type origin struct {
	param  string // the number is this param
	folded *expr  // the number was computed from numbers
	part   bool   // of opConst: it was in percent, and is divided by 100
	let    string // the expression is this let name
}

// symbol is the number as it was written with params, "" where it has none: a series over a param
// is another one than a series over a number that is as large today.
func (e *expr) symbol() string {
	text := e.param
	if e.folded != nil {
		for _, k := range e.folded.kids {
			if s := k.symbol(); s != "" {
				text = fmt.Sprint(e.folded.op, text, s, k.num)
			} else if text != "" {
				text = fmt.Sprint(text, k.num)
			}
		}
	}
	return text
}

// What an expression moves with, if not with one stream.
const (
	nowhere = -1 // it never changes
	several = -2 // streams
	now     = -3 // the position or the clock: it has no history
)

// let is a name that stands for a text.
type let struct {
	text string
	node *node
	busy bool // it is being read: a use of it is a circle
}

// checker makes expressions of nodes, and the slots that they read.
type checker struct {
	program *Program
	params  map[string]float64
	lets    map[string]*let
	signals []string
	keys    []string         // of the rules
	used    map[string]bool  // params and lets
	known   map[string]int   // cells of series, by what they compute
	text    string           // of the rule, let or function at hand
	scope   map[string]*expr // arguments of the function at hand
	stream  int              // of the words without a text
	nodes   int              // of the rule, let names included
	depth   int
	slots   int
}

// free refuses a name that is a word of the language, or none at all.
func (c *checker) free(key, name string) *Error {
	switch {
	case length(name, func(b byte) bool { return letter(b) || digit(b) }) != len(name) || name == "" || digit(name[0]):
		return &Error{Key: key, Message: fmt.Sprintf("%q is no name: letters, digits and _ make one", name)}
	case words[name] != "" || find(name) != nil || input(name) >= 0 || slices.Contains(prefixes, name):
		return &Error{Key: key, Message: fmt.Sprintf("%q is a word of the language; take another name", name)}
	case c.params[name]-c.params[name] != 0:
		return &Error{Key: key, Message: fmt.Sprintf("%v is no number", c.params[name])}
	case key != "params."+name && (hasParam(c.params, name) || c.lets[name] != nil || slices.Contains(c.signals, name)):
		return &Error{Key: key, Message: fmt.Sprintf("%q is named twice", name)}
	}
	return nil
}

func hasParam(params map[string]float64, name string) bool {
	_, has := params[name]
	return has
}

// rule compiles a rule.
func (c *checker) rule(r Rule) {
	n := parse(r.Text)
	c.text, c.scope, c.nodes, c.depth = r.Text, nil, 0, 0
	e := c.expr(n)
	c.want(n, e, r.Want)
	g := generator{checker: c}
	g.rule(e)
	c.program.rules = append(c.program.rules, rule{r.Key, len(c.program.code), e, r.Want})
	c.program.append(g.code)
	for i, w := range e.warm {
		if r.Want == Drawn {
			break
		}
		c.program.streams[i].warmup = max(c.program.streams[i].warmup, w)
	}
}

// want refuses a rule that is not what it is used as, and gives a bare number its dimension.
func (c *checker) want(n *node, e *expr, want Want) {
	fits, goal := false, dim{}
	switch want {
	case Condition:
		fits, goal = e.dim.kind == condition, aCondition
	case Price:
		fits, goal = e.dim.kind == price || e.dim == dim{kind: amount, price: 1} || e.dim.kind == free, aPrice
	case Distance:
		fits, goal = e.dim.kind == distance || e.dim == dim{kind: amount, price: 1} || e.dim.kind == free, aDistance
	case Number:
		fits, goal = e.dim.bare(), dim{kind: ratio}
	case Figure, Drawn:
		fits, goal = e.dim.number(), e.dim
	default:
		panic(fmt.Sprintf("lang: unknown want %d", want))
	}
	if !fits {
		fail(n.begin, "%s is %v; %v is wanted here", c.source(n), e.dim, goal)
	}
	e.bind(goal)
}

// bind gives a bare number the dimension of what stands beside it.
func (e *expr) bind(d dim) {
	if !e.dim.literal() || d.literal() {
		return
	}
	if e.op == opChoose {
		e.kids[1].bind(d)
		e.kids[2].bind(d)
	} else if e.dim.kind == freePart && d.kind != percent && d.kind != scale {
		e.num /= 100
		e.part = true
	}
	e.dim = d
}

// fixed makes a number of what cannot take a dimension later: it is not one number of the rule.
func fixed(all ...*expr) {
	for _, e := range all {
		e.bind(dim{kind: ratio})
	}
}

// source is the text of a node.
func (c *checker) source(n *node) string {
	return strings.Join(strings.Fields(c.text[n.begin:n.to]), " ")
}

// expr checks a node.
func (c *checker) expr(n *node) *expr {
	if c.nodes++; c.nodes > maxNodes {
		fail(n.from, "more than %d numbers, words and operators; let names count as what they stand for", maxNodes)
	}
	if c.depth++; c.depth > maxNodes {
		fail(n.from, "too deep")
	}
	defer func() { c.depth-- }()
	e := c.any(n)
	if e.text == "" {
		e.text = c.source(n)
	}
	return e
}

func (c *checker) any(n *node) *expr {
	switch n.kind {
	case nodeNumber:
		e := c.number(n.num)
		if n.part {
			e.dim.kind = freePart
		}
		return e
	case nodeText:
		fail(n.from, "a text is an interval or a market, and stands last in the brackets of a word: sma(200, \"1d\")")
	case nodeName:
		return c.name(n)
	case nodeCall:
		return c.call(n, "")
	case nodeLine:
		return c.line(n)
	case nodePast:
		return c.past(n)
	case nodeUnary:
		return c.unary(n)
	case nodeChoose:
		return c.choose(n)
	}
	return c.binary(n)
}

func (c *checker) number(x float64) *expr {
	return &expr{op: opConst, num: x, where: nowhere, market: c.program.streams[c.stream].market}
}

// name checks a word without brackets.
func (c *checker) name(n *node) *expr {
	if e := c.scope[n.text]; e != nil {
		copied := *e
		return &copied
	}
	if x, ok := c.params[n.text]; ok && c.scope == nil {
		c.used[n.text] = true
		e := c.number(x)
		e.param = n.text
		return e
	}
	if l := c.lets[n.text]; l != nil && c.scope == nil {
		c.used[n.text] = true
		return c.let(n, l)
	}
	if i := input(n.text); i >= 0 {
		e := &expr{op: opInput, num: float64(i), dim: inputs[i].dim, where: now}
		if e.dim == someMoney {
			by := &expr{op: opConst, num: 1, dim: someMoney, converts: convertsMoney, where: nowhere}
			return made(opMul, someMoney, e, by)
		}
		return e
	}
	switch n.text {
	case "true", "false":
		e := c.number(map[string]float64{"true": 1}[n.text])
		e.dim = aCondition
		return e
	}
	return c.call(n, "")
}

// let checks what a name stands for.
func (c *checker) let(n *node, l *let) (e *expr) {
	if l.busy {
		fail(n.from, "%s stands for itself", n.text)
	}
	text := c.text
	l.busy, c.text = true, l.text
	err := within("let."+n.text, l.text, func() { e = c.expr(l.node) })
	l.busy, c.text = false, text
	if err != nil {
		panic(err)
	}
	e.text, e.let = n.text, n.text
	return e
}

// elsewhere is what a word of TradingView or of a library is called here; "": it is no such word.
func elsewhere(word string) string {
	words := map[string]string{"strategy": "in_position, position, entry_price or profit",
		"dayofweek": "weekday (Monday is 1)", "dayofmonth": "day", "dmi": "adx(n).plus and adx(n).minus",
		"psar": "sar(0.02, 0.02, 0.2)", "highestbars": "highest(s, n).ago", "lowestbars": "lowest(s, n).ago",
		"willr": "wpr(n)", "bbands": "bb(20, 2)", "std": "stdev(s, n)", "stddev": "stdev(s, n)", "ref": "s[k]",
		"shift": "s[k]", "if": "c ? x : y", "iff": "c ? x : y", "crossed_above": "a crosses above b",
		"crossed_below": "a crosses below b", "heikinashi": "ha.close", "price": "close", "vol": "volume",
		"time": "hour, minute, weekday, day, month or between(\"08:00\", \"16:30\")"}
	return words[word]
}

// unknown fails with the nearest word.
func (c *checker) unknown(n *node) {
	names := make([]string, 0, len(functions)+len(inputs)+len(c.params)+len(c.lets))
	for i := range functions {
		names = append(names, functions[i].name)
	}
	for i := range inputs {
		names = append(names, inputs[i].name)
	}
	for name := range c.params {
		names = append(names, name)
	}
	for name := range c.lets {
		names = append(names, name)
	}
	names = append(names, c.signals...)
	slices.Sort(names)
	what, nearest := "word", strategy.Nearest(strings.ToLower(n.text), names)
	switch here := elsewhere(strings.ToLower(n.text)); {
	case here != "":
		fail(n.from, "unknown word %q; here it is %s", n.text, here)
	case nearest == n.text:
		fail(n.from, "%s takes no brackets", n.text)
	case slices.Contains(c.keys, n.text):
		fail(n.from, "%s is a rule, and rules read none: write its text as a let name, and read that name in both",
			n.text)
	case n.kind == nodeCall:
		what = "function"
	}
	if f := find(nearest); f != nil {
		nearest = f.usage()
	}
	fail(n.from, "unknown %s %q; the nearest is %q", what, n.text, nearest)
}

// made is an expression of others.
func made(o op, d dim, kids ...*expr) *expr {
	e := &expr{op: o, kids: kids, dim: d, where: nowhere}
	for _, k := range kids {
		e.where = join(e.where, k.where)
		e.warm = longer(e.warm, k.warm)
	}
	return e
}

// join is what two expressions together move with.
func join(a, b int) int {
	switch {
	case a == now || b == now:
		return now
	case a == nowhere || a == b:
		return b
	case b == nowhere:
		return a
	}
	return several
}

// longer is the longer warm-up of each stream.
func longer(a, b []int) []int {
	all := make([]int, max(len(a), len(b)))
	copy(all, a)
	for i, n := range b {
		all[i] = max(all[i], n)
	}
	return all
}

// condition checks a node that must be true or false.
func (c *checker) condition(n *node, of string) *expr {
	e := c.expr(n)
	if e.dim.kind != condition {
		fail(n.begin, "%s takes conditions; %s is %v", of, c.source(n), e.dim)
	}
	return e
}

// figure checks a node that must be a number.
func (c *checker) figure(n *node, of string) *expr {
	e := c.expr(n)
	if !e.dim.number() {
		fail(n.begin, "%s takes numbers; %s is %v", of, c.source(n), e.dim)
	}
	return e
}

func (c *checker) unary(n *node) *expr {
	if n.text == "not" {
		return made(opNot, aCondition, c.condition(n.kids[0], "not"))
	}
	e := c.figure(n.kids[0], "-")
	if e.op != opConst {
		fixed(e)
	}
	d := e.dim
	if d.kind == price {
		d = dim{kind: amount, price: 1}
	}
	return c.fold(n, made(opSub, d, &expr{op: opConst, dim: e.dim, where: nowhere}, e))
}

func (c *checker) choose(n *node) *expr {
	cond, a, b := c.condition(n.kids[0], "?"), c.expr(n.kids[1]), c.expr(n.kids[2])
	d := c.unify(n, a, b)
	return made(opChoose, d, cond, a, b)
}

// unify gives two expressions one dimension.
func (c *checker) unify(n *node, a, b *expr) dim {
	d, ok := alike(a.dim, b.dim)
	if !ok {
		fail(n.begin, "%s is %v, %s is %v", a.text, a.dim, b.text, b.dim)
	}
	if d.literal() && a.dim != b.dim { // 5% and 0.05
		d = dim{kind: ratio}
	}
	a.bind(d)
	b.bind(d)
	return d
}

// operators are the operations of the signs.
var operators = map[string]op{"or": opOr, "and": opAnd, "==": opEqual, "!=": opNotEqual, "<": opLess, ">": opMore,
	"<=": opAtMost, ">=": opAtLeast, "+": opAdd, "-": opSub, "*": opMul, "/": opDiv, "%": opMod}

func (c *checker) binary(n *node) *expr {
	switch n.text {
	case "and", "or":
		a := c.condition(n.kids[0], n.text)
		return made(operators[n.text], aCondition, a, c.condition(n.kids[1], n.text))
	case "crosses above", "crosses below":
		return c.cross(n, n.kids[0], n.kids[1], n.text == "crosses above")
	case "==", "!=", "<", ">", "<=", ">=":
		return c.compare(n)
	case "%":
		a, b := c.figure(n.kids[0], "%"), c.figure(n.kids[1], "%")
		if a.dim.literal() && b.dim.literal() {
			fixed(a, b)
		}
		return c.fold(n, made(opMod, c.unify(n, a, b), a, b))
	}
	a, b := c.figure(n.kids[0], n.text), c.figure(n.kids[1], n.text)
	o, d, ok := operators[n.text], dim{}, true
	switch {
	case a.dim.literal() && b.dim.literal() && a.op == opConst && b.op == opConst:
		d = literals(o, a, b)
	case a.dim.literal() && b.dim.literal():
		fixed(a, b)
		d = a.dim
	case o == opAdd || o == opSub:
		if d, ok = sum(a.dim, b.dim, o == opSub); !ok && b.dim.kind == freePart {
			fail(n.begin, "%s of what? Write %s * (1 %s %s)", b.text, a.text, n.text, b.text)
		} else if !ok {
			fail(n.begin, "%s is %v, %s is %v", a.text, a.dim, b.text, b.dim)
		}
		a.bind(d)
		b.bind(d)
	default:
		d = product(a.dim, b.dim, map[op]int8{opMul: 1, opDiv: -1}[o])
		fixed(a, b)
	}
	return c.fold(n, made(o, d, a, b))
}

// literals is the dimension of a calculation with two numbers of the rule: 2 * 1% stays in percent,
// 1 + 1% is 1.01.
func literals(o op, a, b *expr) dim {
	partA, partB := a.dim.kind == freePart, b.dim.kind == freePart
	switch {
	case o <= opSub && partA == partB:
		return a.dim
	case o == opMul && partA != partB, o == opDiv && partA && !partB:
		return dim{kind: freePart}
	}
	for _, e := range []*expr{a, b} {
		e.bind(dim{kind: ratio})
		e.dim.kind = free
	}
	return dim{}
}

// fold computes what never changes.
func (c *checker) fold(n *node, e *expr) *expr {
	if e.where != nowhere || !e.dim.literal() {
		return e
	}
	cells := make([]float64, 0, 2)
	for _, k := range e.kids {
		if k.op != opConst {
			return e
		}
		cells = append(cells, k.num)
	}
	x := compute(e.op, cells[0], cells[len(cells)-1])
	if x-x != 0 {
		fail(n.begin, "%s has no result", c.source(n))
	}
	folded := c.number(x)
	folded.dim, folded.folded = e.dim, e
	return folded
}

func (c *checker) compare(n *node) *expr {
	left, right := n.kids[0], n.kids[1]
	var a, b *expr
	switch {
	case n.text != "==" && n.text != "!=":
		a, b = c.figure(left, n.text), c.figure(right, n.text)
	case right.kind == nodeText:
		a = c.expr(left)
		b = c.label(right, a)
	case left.kind == nodeText:
		b = c.expr(right)
		a = c.label(left, b)
	default:
		a, b = c.expr(left), c.expr(right)
	}
	c.unify(n, a, b)
	switch n.text {
	case ">":
		c.possible(n, a, b)
	case "<":
		c.possible(n, b, a)
	}
	return made(operators[n.text], aCondition, a, b)
}

// possible refuses a comparison that never holds: close above the highest high with its own candle.
func (c *checker) possible(n *node, high, low *expr) {
	within := func(e, bound *expr, field int) bool { // e is a price of the candle whose high or low bound has
		first := -fields
		for _, s := range c.program.streams {
			if s.fields <= e.cell && e.cell < s.fields+fields-1 {
				first = s.fields
			}
		}
		return e.op == opCell && (e.cell == bound.of || bound.of == first+field)
	}
	say := func(e, bound *expr, way string) {
		fail(n.begin, "%s holds the present candle: %s cannot be %s it; write %s[1]", bound.text, e.text, way,
			bound.text)
	}
	if low.bound > 0 && within(high, low, 1) {
		say(high, low, "above")
	}
	if high.bound < 0 && within(low, high, 2) {
		say(low, high, "below")
	}
}

// cross checks a crosses above b. It is true on one candle of the main interval.
func (c *checker) cross(n, x, y *node, above bool) *expr {
	a, b := c.figure(x, "a crossing"), c.figure(y, "a crossing")
	c.unify(n, a, b)
	if above {
		c.possible(n, a, b)
	} else {
		c.possible(n, b, a)
	}
	before := func(kid *node, e *expr) *expr {
		if e.where == nowhere {
			return e
		}
		return c.before(kid, e, c.number(1), true)
	}
	o := opCrossUp
	if !above {
		o = opCrossDown
	}
	return made(o, aCondition, a, b, before(x, a), before(y, b))
}

// past checks x[k].
func (c *checker) past(n *node) *expr {
	ago := c.whole(n.kids[1], "the number of candles ago", 0, maxPast)
	e := c.expr(n.kids[0])
	if ago.num == 0 || e.where == nowhere {
		return e
	}
	return c.before(n.kids[0], e, ago, false)
}

// before is an expression k candles ago, of its own stream or of the main one.
func (c *checker) before(n *node, e, ago *expr, main bool) *expr {
	e = c.series(n, e)
	k, symbol := int(ago.num), ago.symbol()
	where := e.where
	if main && where != 0 {
		where = several
	}
	key := fmt.Sprint("[", e.cell, k, where, symbol)
	old, known := c.known[key]
	switch {
	case known:
	case k == 1 && symbol == "" && where == e.where && where != several:
		old = c.slot(n, key, 1)
		of := &c.program.streams[where]
		of.shifts = slices.Insert(of.shifts, 0, shifted{e.cell, old})
	default:
		old = c.unit(n, key, where, series{from: []int{e.cell}, args: []float64{ago.num},
			given: []*expr{ago}})
	}
	return &expr{op: opCell, cell: old, dim: e.dim, where: where, warm: c.warmer(e.warm, where, k+1)}
}

// warmer adds a warm-up of n candles of a stream; several streams count by the main one.
func (c *checker) warmer(warm []int, where, n int) []int {
	where = max(where, 0)
	warm = longer(warm, make([]int, where+1))
	warm[where] = max(warm[where], 1) + n - 1
	return warm
}

// whole checks a node that must be a whole number that never changes.
func (c *checker) whole(n *node, what string, least, most int) *expr {
	e := c.constant(n, what)
	x := e.num
	if x != math.Trunc(x) || x < float64(least) || x > float64(most) {
		is := ""
		if n.kind != nodeNumber {
			is = fmt.Sprintf(", %s is %v", c.source(n), x)
		}
		fail(n.begin, "%s must be a whole number from %d to %d%s", what, least, most, is)
	}
	if e.param != "" {
		c.program.lengths[e.param] = true
	}
	return e
}

// constant checks a node that must be a number that never changes.
func (c *checker) constant(n *node, what string) *expr {
	e := c.expr(n)
	if e.op != opConst || e.dim.kind == condition {
		fail(n.begin, "%s must be a number or a param, %s changes with the market", what, c.source(n))
	}
	e.bind(dim{kind: ratio})
	return e
}

// series puts the values of an expression into a cell that a unit can read.
func (c *checker) series(n *node, e *expr) *expr {
	switch {
	case e.op == opCell:
		return e
	case e.where == now:
		fail(n.begin, "%s has no history: position and clock are known for the present candle alone", c.source(n))
	case e.where == nowhere:
		fail(n.begin, "%s never changes; a series is wanted, such as close", c.source(n))
	}
	fixed(e)
	g := generator{checker: c}
	g.rule(e)
	key := fmt.Sprint(g.code)
	cell, known := c.known[key]
	if !known {
		cell = c.slot(n, key, 1)
		c.program.add(e.where, step{series: -1, entry: len(c.program.code), cell: cell, expr: e})
		c.program.append(g.code)
	}
	return &expr{op: opCell, cell: cell, dim: e.dim, where: e.where, warm: e.warm, text: e.text}
}

// slot takes cells for the lines of a series.
func (c *checker) slot(n *node, key string, lines int) int {
	if c.slots++; c.slots > maxSlots {
		fail(n.from, "more than %d different series; each indicator, history and series inside one counts", maxSlots)
	}
	c.known[key] = c.program.cells
	c.program.cells += lines
	return c.known[key]
}

// streamOf is the number of the stream of a market and an interval.
func (c *checker) streamOf(of int, interval market.Interval) int {
	at := slices.IndexFunc(c.program.streams, func(s stream) bool { return s.market == of && s.interval == interval })
	if at < 0 {
		at = len(c.program.streams)
		c.program.streams = append(c.program.streams, stream{market: of, interval: interval, fields: c.program.cells})
		c.program.cells += fields
	}
	return at
}
