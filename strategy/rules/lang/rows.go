package lang

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// rowSize is the most candles of a row: those of a mask.
const rowSize = 64

// mask has a bit for each candle of a row, the first one lowest.
type mask uint64

// truths are the values of a condition at the candles of a row. Where it is undefined it is not
// true.
type truths struct{ is, unknown mask }

// column is a cell at the candles of a row.
type column [rowSize]float64

// row is the candles that a State has looked at ahead of their Push, with the cells and the
// conditions at each. Code that steps candle by candle takes three times as long.
type row struct {
	n, at    int      // candles; those that were pushed
	columns  []column // by cell less temporaries, those of the code behind them
	unknown  []mask   // by column: where it is undefined
	past     []int    // by column: the cell whose value of the candle before it has; 0: none
	filled   []bool   // by column: of past ones, for this row
	before   []float64
	starts   [rowSize]market.Time
	top      market.Price // the highest price of the row
	results  []truths     // by place in the rules of Look
	reads    [fields]bool
	firstOut int // of the columns of code
	fields   int // cell of the open
}

// Rows reports whether State.Look can look at rules: they are conditions, and read nothing but
// candles of the traded market and the main interval.
func (p *Program) Rows(rules ...int) bool {
	return len(p.streams) == 1 && len(p.mixed) == 0 && !slices.ContainsFunc(rules, func(rule int) bool {
		e := p.rules[rule].expr
		return e.dim.kind != condition || e.asks()
	})
}

// asks reports whether an expression reads the position, the clock or a signal.
func (e *expr) asks() bool { return e.op == opInput || slices.ContainsFunc(e.kids, (*expr).asks) }

// newRow is a row of a state before its first candle.
func (s *State) newRow() *row {
	p := s.program
	n := p.cells - temporaries
	r := &row{columns: make([]column, n, n+8), unknown: make([]mask, n, n+8), past: make([]int, n),
		filled: make([]bool, n), before: make([]float64, p.cells), firstOut: n}
	for _, c := range p.constants {
		at := c.cell - temporaries
		for i := range r.columns[at] {
			r.columns[at][i] = s.cells[c.cell]
		}
		r.unknown[at] = r.columns[at].undefined(rowSize)
	}
	of := &p.streams[0]
	r.fields = of.fields
	read := func(cell int) {
		if f := cell - of.fields; f >= 0 && f < fields {
			r.reads[f] = true
		}
	}
	var visit func(e *expr)
	visit = func(e *expr) {
		if e.op == opCell {
			read(e.cell)
		}
		for _, k := range e.kids {
			visit(k)
		}
	}
	for _, one := range p.rules {
		visit(one.expr)
	}
	for _, x := range of.shifts {
		r.past[x.to-temporaries] = x.from
		read(x.from)
	}
	for _, one := range of.steps {
		if one.series < 0 {
			visit(one.expr)
			continue
		}
		for _, cell := range p.series[one.series].from {
			read(cell)
		}
	}
	return r
}

// Look looks at candles in a row before they are pushed: at up to 64 of the first. It returns how
// many are ahead; while there are some of an earlier Look, it looks at no more. Push must get each
// of them next, in order.
func (s *State) Look(series []market.Candle, rules ...int) (ahead int) {
	if s.row == nil {
		s.row = s.newRow()
	}
	r := s.row
	if r.at < r.n {
		return r.n - r.at
	}
	series = series[:min(len(series), rowSize)]
	r.n, r.at = len(series), 0
	copy(r.before, s.cells)
	clear(r.filled)
	r.top = 0
	for i := range series {
		c := &series[i]
		r.starts[i%rowSize], r.top = c.Start, max(r.top, c.High)
	}
	r.prices(s.program.streams[0].fields-temporaries, series)
	for _, one := range s.program.streams[0].steps {
		if one.series < 0 {
			r.code(one)
		} else {
			s.pushRow(one.series, series)
		}
	}
	for len(r.results) < len(rules) {
		r.results = append(r.results, truths{})
	}
	for i, rule := range rules {
		r.results[i] = r.truth(s.program.rules[rule].expr, r.firstOut)
	}
	r.miss(s.parts)
	return r.n
}

// Ahead is a rule of Look at the candles that are ahead: a bit for each, the next one lowest. Where
// it is undefined it is not true.
func (s *State) Ahead(rule int) (is, unknown uint64) {
	r := s.row
	return uint64(r.results[rule].is >> r.at), uint64(r.results[rule].unknown >> r.at)
}

// Pass pushes n of the candles that are ahead.
func (s *State) Pass(n int) {
	r := s.row
	if r.at += n; n > 0 {
		s.fill(r.at - 1)
	}
}

// fill takes the cells of a candle of the row.
func (s *State) fill(candle int) {
	for cell := temporaries; cell < len(s.cells); cell++ {
		s.cells[cell] = s.row.of(cell, candle)
	}
}

// of is the value of a cell at a candle.
func (r *row) of(cell, candle int) float64 {
	switch from := r.past[cell-temporaries]; {
	case from == 0:
		return r.columns[cell-temporaries][candle]
	case candle == 0:
		return r.before[from]
	default:
		return r.of(from, candle-1)
	}
}

// next pushes the next candle, if there are some ahead.
func (s *State) next(c *market.Candle) bool {
	r := s.row
	if r == nil || r.at == r.n {
		return false
	}
	if c.Start != r.starts[r.at] {
		panic(fmt.Sprintf("lang: the candle that starts at %s was ahead, and not the one at %s", r.starts[r.at],
			c.Start))
	}
	s.Pass(1)
	return true
}

// prices fills in the columns of the candle that something reads, from a column on.
func (r *row) prices(first int, series []market.Candle) {
	into := r.columns[first : first+fields]
	for f, read := range r.reads {
		to := &into[f]
		switch {
		case !read:
		case f == 0:
			for i := range series {
				to[i%rowSize] = float64(series[i].Open)
			}
		case f == 1:
			for i := range series {
				to[i%rowSize] = float64(series[i].High)
			}
		case f == 2:
			for i := range series {
				to[i%rowSize] = float64(series[i].Low)
			}
		case f == 3:
			for i := range series {
				to[i%rowSize] = float64(series[i].Close)
			}
		default:
			for i := range series {
				to[i%rowSize] = float64(series[i].Volume)
			}
		}
	}
}

// cell is the column of a cell.
func (r *row) cell(cell int) int {
	at := cell - temporaries
	from := r.past[at]
	if from == 0 || r.filled[at] {
		return at
	}
	r.filled[at] = true
	of, to := &r.columns[r.cell(from)], &r.columns[at]
	to[0] = r.before[from]
	copy(to[1:], of[:])
	r.unknown[at] = r.unknown[from-temporaries] << 1
	if to[0] != to[0] {
		r.unknown[at] |= 1
	}
	return at
}

// pushRow computes a series for the row.
func (s *State) pushRow(number int, series []market.Candle) {
	r, of := s.row, &s.program.series[number]
	u := s.units[number]
	for _, cell := range of.from {
		r.cell(cell)
	}
	to := of.to - temporaries
	if u, can := u.(rowUnit); can && u.row(r, series) {
		r.unknown[to] = 0
		return
	}
	lines := r.columns[to : to+max(len(of.ticks), 1)]
	for i := range series {
		for _, cell := range of.from {
			s.cells[cell] = r.columns[cell-temporaries][i]
		}
		s.candle = series[i]
		u.push(s)
		for l := range lines {
			lines[l][i] = s.cells[of.to+l]
		}
	}
	for l := range lines {
		r.unknown[to+l] = lines[l].undefined(r.n)
	}
}

// code computes a series that is code.
func (r *row) code(one step) {
	to := one.cell - temporaries
	if one.expr.dim.kind == condition {
		r.numbers(to, r.truth(one.expr, r.firstOut))
		return
	}
	at, unknown := r.value(one.expr, r.firstOut)
	for i, x := range r.columns[at][:r.n] {
		if x-x != 0 || unknown>>i&1 != 0 {
			x = undefined()
		}
		r.columns[to][i] = x
	}
	r.unknown[to] = r.columns[to].undefined(r.n)
}

// numbers writes a condition into a column, as 1 and 0.
func (r *row) numbers(to int, t truths) {
	c := &r.columns[to]
	for i := range r.n {
		switch {
		case t.unknown>>i&1 != 0:
			c[i%rowSize] = undefined()
		default:
			c[i%rowSize] = float64(t.is >> i & 1)
		}
	}
	r.unknown[to] = t.unknown
}

// truth is a condition at each candle: what generator.jumps makes code for. Columns from out on are
// free.
func (r *row) truth(e *expr, out int) truths {
	switch e.op {
	case opNot:
		t := r.truth(e.kids[0], out)
		return truths{^(t.is | t.unknown), t.unknown}
	case opAnd:
		return r.both(e.kids[0], e.kids[1], out)
	case opOr:
		a := r.truth(e.kids[0], out)
		open := ^(a.is | a.unknown) & r.all()
		if open == 0 {
			return a
		}
		b := r.truth(e.kids[1], out)
		return truths{a.is | open&b.is, a.unknown | open&b.unknown}
	case opCrossUp, opCrossDown:
		a, b, before, other := e.kids[0], e.kids[1], e.kids[2], e.kids[3]
		if e.op == opCrossDown {
			a, b, before, other = b, a, other, before
		}
		t := r.compare(opLess, b, a, out)
		if t.is&r.all() == 0 {
			return t
		}
		u, known := r.earlier(t, a, b, before, other)
		if !known {
			u = r.compare(opAtMost, before, other, out)
		}
		return truths{t.is & u.is, t.unknown | t.is&u.unknown}
	case opLess, opAtMost, opEqual:
		return r.compare(e.op, e.kids[0], e.kids[1], out)
	case opMore:
		return r.compare(opLess, e.kids[1], e.kids[0], out)
	case opAtLeast:
		return r.compare(opAtMost, e.kids[1], e.kids[0], out)
	case opNotEqual:
		t := r.compare(opEqual, e.kids[0], e.kids[1], out)
		return truths{^(t.is | t.unknown), t.unknown}
	}
	at, unknown := r.value(e, out)
	unknown |= r.unknown[at]
	c, is := &r.columns[at], mask(0)
	for i := range r.n {
		if c[i%rowSize] != 0 {
			is |= 1 << i
		}
	}
	return truths{is &^ unknown, unknown}
}

// all has a bit for each candle of the row.
func (r *row) all() mask { return ^mask(0) >> (rowSize - r.n) }

// both is two conditions with an "and" between them. The right one counts where the left is true.
func (r *row) both(x, y *expr, out int) truths {
	a := r.truth(x, out)
	if a.is&r.all() == 0 {
		return a
	}
	b := r.truth(y, out)
	return truths{a.is & b.is, a.unknown | a.is&b.unknown}
}

// earlier is whether a was at most b at the candle before each one, where t says whether it is
// above b now. It is not known where one is undefined, or where the two before are others.
func (r *row) earlier(t truths, a, b, before, other *expr) (u truths, known bool) {
	x, y := r.first(a, before), r.first(b, other)
	if t.unknown != 0 || x != x || y != y {
		return u, false
	}
	if u.is = ^t.is << 1; x <= y {
		u.is |= 1
	}
	return u, true
}

// first is an expression before the first candle of the row, undefined where `before` is not that
// of the candle before it, whatever the candle.
func (r *row) first(e, before *expr) float64 {
	switch {
	case e.op == opConst && before.op == opConst && e.cell == before.cell:
		return r.columns[e.cell-temporaries][0]
	case e.op == opCell && before.op == opCell && r.past[before.cell-temporaries] == e.cell:
		return r.before[e.cell]
	}
	return undefined()
}

// compare is a comparison at each candle.
func (r *row) compare(o op, x, y *expr, out int) truths {
	at, unknown := r.value(x, out)
	with, more := r.value(y, out+1)
	unknown |= more | r.unknown[at] | r.unknown[with]
	a, b, is := r.columns[at][:r.n], r.columns[with][:r.n], mask(0)
	switch o {
	case opLess:
		for i, x := range a {
			var bit mask
			if x < b[i] {
				bit = 1 << (rowSize - 1)
			}
			is = is>>1 | bit
		}
	case opAtMost:
		for i, x := range a {
			var bit mask
			if x <= b[i] {
				bit = 1 << (rowSize - 1)
			}
			is = is>>1 | bit
		}
	default:
		for i, x := range a {
			var bit mask
			if x == b[i] {
				bit = 1 << (rowSize - 1)
			}
			is = is>>1 | bit
		}
	}
	return truths{is >> (rowSize - r.n) &^ unknown, unknown}
}

// undefined is where the first n of a column are undefined.
func (c *column) undefined(n int) (is mask) {
	for _, x := range c[:n] {
		var bit mask
		if x != x {
			bit = 1 << (rowSize - 1)
		}
		is = is>>1 | bit
	}
	return is >> (rowSize - n)
}

// value is the column of an expression at each candle, out if it is in no other: what
// generator.value makes code for. unknown is where a condition in it is undefined.
func (r *row) value(e *expr, out int) (at int, unknown mask) {
	switch {
	case e.op == opCell:
		return r.cell(e.cell), 0
	case e.op == opConst:
		return e.cell - temporaries, 0
	}
	for out >= len(r.columns) {
		r.columns, r.unknown = append(r.columns, column{}), append(r.unknown, 0)
	}
	switch {
	case e.op == opChoose:
		t := r.truth(e.kids[0], out)
		a, unknownA := r.value(e.kids[1], out+1)
		b, unknownB := r.value(e.kids[2], out+2)
		to, x, y := &r.columns[out], &r.columns[a], &r.columns[b]
		for i := range r.n {
			if to[i%rowSize] = y[i%rowSize]; t.is>>i&1 != 0 {
				to[i%rowSize] = x[i%rowSize]
			}
		}
		unknown = t.unknown | t.is&unknownA | ^t.is&unknownB
	case e.op > opCell:
		t := r.truth(e, out)
		r.numbers(out, t)
		return out, t.unknown
	default:
		a, unknownA := r.value(e.kids[0], out)
		b, unknownB := a, mask(0)
		if len(e.kids) > 1 {
			b, unknownB = r.value(e.kids[1], out+1)
		}
		unknown = unknownA | unknownB
		calculate(e.op, r.columns[out][:r.n], r.columns[a][:r.n], r.columns[b][:r.n])
	}
	r.unknown[out] = r.columns[out].undefined(r.n)
	return out, unknown
}

// calculate is compute for columns.
func calculate(o op, to, a, b []float64) {
	switch o {
	case opAdd:
		for i, x := range a {
			to[i] = x + b[i]
		}
	case opSub:
		for i, x := range a {
			to[i] = x - b[i]
		}
	case opMul:
		for i, x := range a {
			to[i] = x * b[i]
		}
	default:
		for i, x := range a {
			to[i] = compute(o, x, b[i])
		}
	}
}
