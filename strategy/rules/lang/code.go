package lang

import "math"

// op is an operation: of an expr, and of the code made of it.
type op uint8

// The operations. Those of the code read the cells a and b. A jump goes to the instruction `to`, a
// result to the cell `to`.
const (
	opAdd op = iota
	opSub
	opMul
	opDiv
	opMin
	opMax
	opAbs
	opSqrt
	opLog
	opExp
	opFloor
	opCeil
	opRound
	opSign
	opMod
	opPow
	opFill  // nz: a, or b where a is undefined
	opIsNaN // na

	opCopy
	opInput      // to = the input
	opJump       //
	opIfLess     // jumps if a < b
	opUnlessLess // jumps if not
	opIfAtMost
	opUnlessAtMost
	opIfEqual
	opUnlessEqual
	opYield  // the result is a
	opIsTrue // the result is 1
	opIsFalse

	opConst // of an expr alone, as those that follow
	opCell
	opOr
	opAnd
	opNot
	opLess
	opAtMost
	opMore
	opAtLeast
	opEqual
	opNotEqual
	opCrossUp   // kids: a, b, and both before
	opCrossDown //
	opChoose
)

// instruction is a step of the code.
type instruction struct {
	op       op
	input    uint8 // of opInput
	to, a, b uint16
}

// undefined is the value of what is not known: an indicator that is not ready, 0 ÷ 0.
func undefined() float64 { return math.NaN() }

// run runs code from an entry on. The result of a condition is 1 or 0. It is undefined where a
// comparison met an undefined number.
func run(code []instruction, at int, cells []float64, in *Inputs) (float64, bool) {
	for {
		i := &code[at]
		at++
		a, b := cells[i.a], cells[i.b]
		switch i.op {
		case opIfLess, opUnlessLess:
			if a < b == (i.op == opIfLess) {
				at = int(i.to)
			}
		case opIfAtMost, opUnlessAtMost:
			if a <= b == (i.op == opIfAtMost) {
				at = int(i.to)
			}
		case opIfEqual, opUnlessEqual:
			if a == b == (i.op == opIfEqual) {
				at = int(i.to)
			}
		case opIsTrue:
			return 1, true
		case opIsFalse:
			return 0, true
		case opAdd:
			cells[i.to] = a + b
			continue
		case opSub:
			cells[i.to] = a - b
			continue
		case opMul:
			cells[i.to] = a * b
			continue
		case opYield:
			return a, a-a == 0
		case opJump:
			at = int(i.to)
			continue
		case opCopy:
			cells[i.to] = a
			continue
		case opInput:
			cells[i.to] = in.at(int(i.input))
			continue
		default:
			cells[i.to] = compute(i.op, a, b)
			continue
		}
		if a != a || b != b {
			return 0, false
		}
	}
}

// compute is an operation on two numbers. What has no result is undefined.
func compute(o op, a, b float64) float64 {
	switch o {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opDiv:
		if b == 0 {
			return undefined()
		}
		return a / b
	case opMin:
		return min(a, b)
	case opMax:
		return max(a, b)
	case opAbs:
		return math.Abs(a)
	case opSqrt:
		return math.Sqrt(a)
	case opLog:
		if a <= 0 {
			return undefined()
		}
		return math.Log(a)
	case opExp:
		return math.Exp(a)
	case opFloor:
		return math.Floor(a)
	case opCeil:
		return math.Ceil(a)
	case opRound:
		return math.Round(a)
	case opSign:
		return sign(a)
	case opMod:
		return math.Mod(a, b)
	case opPow:
		return math.Pow(a, b)
	case opFill:
		if a != a {
			return b
		}
		return a
	case opIsNaN:
		if a != a {
			return 1
		}
		return 0
	}
	panic("lang: not a calculation")
}

// sign is -1, 0 or 1, undefined where a is.
func sign(a float64) float64 {
	switch {
	case a > 0:
		return 1
	case a < 0:
		return -1
	}
	return a
}

// temporaries are the cells at the begin, for results on their way.
const temporaries = 64

// generator makes code of expressions.
type generator struct {
	*checker
	code []instruction
}

// append adds code, whose jumps count from its own begin.
func (p *Program) append(code []instruction) {
	if len(p.code)+len(code) > math.MaxUint16 {
		fail(0, "all rules together are too long")
	}
	from := uint16(len(p.code))
	for _, i := range code {
		if i.op >= opJump && i.op <= opUnlessEqual {
			i.to += from
		}
		p.code = append(p.code, i)
	}
}

func (g *generator) emit(o op, to, a, b int) int {
	g.code = append(g.code, instruction{op: o, to: uint16(to), a: uint16(a), b: uint16(b)})
	return len(g.code) - 1
}

// rule makes the code of a whole expression.
func (g *generator) rule(e *expr) {
	if e.dim.kind == condition {
		no := g.jumps(e, false, 0)
		g.emit(opIsTrue, 0, 0, 0)
		g.land(no)
		g.emit(opIsFalse, 0, 0, 0)
		return
	}
	g.emit(opYield, 0, g.value(e, 0), 0)
}

// land lets jumps end at the next instruction.
func (g *generator) land(jumps []int) {
	for _, j := range jumps {
		g.code[j].to = uint16(len(g.code))
	}
}

// value makes code that computes an expression, and returns the cell of the result: t, if it is not
// in a cell already. It may use the temporaries from t on.
func (g *generator) value(e *expr, t int) int {
	if t >= temporaries-1 {
		fail(0, "too deep")
	}
	switch {
	case e.op == opCell:
		return e.cell
	case e.op == opConst:
		if e.cell == 0 {
			e.cell = g.constant(constant{num: e.num, price: e.dim.price, volume: e.dim.volume, market: e.market,
				converts: e.converts, symbol: e.symbol()})
		}
		return e.cell
	case e.op == opInput:
		g.code[g.emit(opInput, t, 0, 0)].input = uint8(e.num)
	case e.op == opChoose:
		no := g.jumps(e.kids[0], false, t)
		g.emit(opCopy, t, g.value(e.kids[1], t), 0)
		end := g.emit(opJump, 0, 0, 0)
		g.land(no)
		g.emit(opCopy, t, g.value(e.kids[2], t), 0)
		g.land([]int{end})
	case e.op > opCell:
		no := g.jumps(e, false, t)
		g.emit(opCopy, t, g.constant(constant{num: 1}), 0)
		end := g.emit(opJump, 0, 0, 0)
		g.land(no)
		g.emit(opCopy, t, g.constant(constant{}), 0)
		g.land([]int{end})
	default:
		a := g.value(e.kids[0], t)
		b := a
		if len(e.kids) > 1 {
			next := t
			if a == t {
				next++
			}
			b = g.value(e.kids[1], next)
		}
		g.emit(e.op, t, a, b)
	}
	return t
}

// jumps makes code that jumps if the condition is sense, and falls through if not. It returns the
// jumps, which land where the caller says.
func (g *generator) jumps(e *expr, sense bool, t int) []int {
	switch e.op {
	case opNot:
		return g.jumps(e.kids[0], !sense, t)
	case opAnd, opOr:
		return g.both(e.kids[0], e.kids[1], sense, sense == (e.op == opOr), t)
	case opCrossUp, opCrossDown:
		a, b, before, other := e.kids[0], e.kids[1], e.kids[2], e.kids[3]
		if e.op == opCrossDown {
			a, b, before, other = b, a, other, before
		}
		above, below := made(opLess, aCondition, b, a), made(opAtMost, aCondition, before, other)
		return g.both(above, below, sense, !sense, t)
	case opLess:
		return g.jump(e.kids[0], e.kids[1], opIfLess, sense, t)
	case opAtMost:
		return g.jump(e.kids[0], e.kids[1], opIfAtMost, sense, t)
	case opMore:
		return g.jump(e.kids[1], e.kids[0], opIfLess, sense, t)
	case opAtLeast:
		return g.jump(e.kids[1], e.kids[0], opIfAtMost, sense, t)
	case opEqual:
		return g.jump(e.kids[0], e.kids[1], opIfEqual, sense, t)
	case opNotEqual:
		return g.jump(e.kids[0], e.kids[1], opIfEqual, !sense, t)
	}
	return g.jump(e, &expr{op: opConst, where: nowhere}, opIfEqual, !sense, t)
}

// both is jumps of two conditions: of an "and" that jumps if false, or of an "or" that jumps if
// true, where either is enough.
func (g *generator) both(x, y *expr, sense, either bool, t int) []int {
	if either {
		first := g.jumps(x, sense, t)
		return append(first, g.jumps(y, sense, t)...)
	}
	skip := g.jumps(x, !sense, t)
	all := g.jumps(y, sense, t)
	g.land(skip)
	return all
}

// jump is the jump of one comparison.
func (g *generator) jump(x, y *expr, o op, sense bool, t int) []int {
	a := g.value(x, t)
	next := t
	if a == t {
		next++
	}
	b := g.value(y, next)
	if !sense {
		o++
	}
	return []int{g.emit(o, 0, a, b)}
}

// constant is the cell of a number.
func (g *generator) constant(x constant) int {
	all := &g.program.constants
	for _, c := range *all {
		if x.cell = c.cell; x == c {
			return c.cell
		}
	}
	x.cell = g.program.cells
	g.program.cells++
	*all = append(*all, x)
	return x.cell
}
