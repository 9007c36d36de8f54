package lang

import "slices"

// node is a part of a rule as it is written.
type node struct {
	kind     nodeKind
	text     string // the operator, name or text
	num      float64
	part     bool // num is in percent
	kids     []*node
	from, to int // its place in the rule; from of an operator is the operator's own
	begin    int // where its first kid begins
	size     int // nodes, itself included
	depth    int
}

type nodeKind uint8

const (
	nodeNumber nodeKind = iota
	nodeText            // "1d"
	nodeName            // close
	nodeCall            // sma(...)
	nodeLine            // macd(...).signal
	nodePast            // close[1]; num is how many candles ago
	nodeUnary           // - not
	nodeBinary          // + and crosses above ...
	nodeChoose          // a ? b : c
)

// Precedence of the operators with two sides: a higher one binds closer.
const (
	bindsOr = iota + 1
	bindsAnd
	bindsNot
	bindsEqual
	bindsOrder
	bindsSum
	bindsProduct
)

// binds is the precedence of each operator.
var binds = map[string]int{"or": bindsOr, "and": bindsAnd, "==": bindsEqual, "!=": bindsEqual, "<": bindsOrder,
	">": bindsOrder, "<=": bindsOrder, ">=": bindsOrder, "crosses above": bindsOrder, "crosses below": bindsOrder,
	"+": bindsSum, "-": bindsSum, "*": bindsProduct, "/": bindsProduct, "%": bindsProduct}

// parser makes nodes of tokens.
type parser struct {
	lexer lexer
	token token // the next one
	nodes int
	depth int
}

// parse reads a rule. It fails at the first fault.
func parse(text string) *node {
	if len(text) > maxText {
		fail(0, "the text has %d bytes; the limit is %d", len(text), maxText)
	}
	p := parser{lexer: lexer{source: text}}
	p.advance()
	if p.token.kind == tokenEnd {
		fail(0, "the text is empty")
	}
	n := p.choice()
	if p.token.kind != tokenEnd {
		p.unexpected("the end or an operator")
	}
	return n
}

func (p *parser) advance() token {
	t := p.token
	p.token = p.lexer.next()
	if p.token.kind == tokenSign && p.token.text == "crosses" {
		way := p.lexer.next()
		if way.text != "above" && way.text != "below" {
			fail(p.token.from, "write crosses above or crosses below")
		}
		p.token.text, p.token.to = "crosses "+way.text, way.to
	}
	return t
}

// sign takes the sign if it is next.
func (p *parser) sign(text string) bool {
	if p.token.kind != tokenSign || p.token.text != text {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(sign string) token {
	t := p.token
	if !p.sign(sign) {
		p.unexpected("\"" + sign + "\"")
	}
	return t
}

func (p *parser) unexpected(want string) {
	switch p.token.kind {
	case tokenEnd:
		fail(p.token.from, "the text ends too early; %s is expected", want)
	case tokenText:
		fail(p.token.from, "unexpected text %q; %s is expected", p.token.text, want)
	default:
		fail(p.token.from, "unexpected \"%s\"; %s is expected", p.lexer.source[p.token.from:p.token.to], want)
	}
}

// node counts and finishes a node.
func (p *parser) node(n node, kids ...*node) *node {
	n.kids, n.size, n.depth = kids, 1, 1
	for _, kid := range kids {
		n.size += kid.size
		n.depth = max(n.depth, kid.depth+1)
	}
	if p.nodes++; p.nodes > maxNodes {
		fail(n.from, "more than %d numbers, words and operators", maxNodes)
	}
	return &n
}

// deeper runs f one bracket deeper.
func (p *parser) deeper(at int, f func() *node) *node {
	if p.depth++; p.depth > maxDepth {
		fail(at, "more than %d brackets in each other", maxDepth)
	}
	defer func() { p.depth-- }()
	return f()
}

// choice reads c ? a : b, or what binds closer.
func (p *parser) choice() *node {
	c := p.binary(bindsOr)
	at := p.token.from
	if !p.sign("?") {
		return c
	}
	return p.deeper(at, func() *node {
		a := p.choice()
		p.expect(":")
		b := p.choice()
		return p.node(node{kind: nodeChoose, text: "?", from: at, begin: c.begin, to: b.to}, c, a, b)
	})
}

// binary reads operators that bind at least as close as least.
func (p *parser) binary(least int) *node {
	left := p.unary()
	for p.token.kind == tokenSign && binds[p.token.text] >= least {
		op := p.advance()
		own := binds[op.text]
		right := p.binary(own + 1)
		n := node{kind: nodeBinary, text: op.text, from: op.from, begin: left.begin, to: right.to}
		left = p.node(n, left, right)
		if own == binds[p.token.text] && (own == bindsEqual || own == bindsOrder) {
			fail(p.token.from, "comparisons do not chain: write a < b and b < c")
		}
	}
	return left
}

// unary reads - and not, or what binds closer.
func (p *parser) unary() *node {
	at := p.token.from
	for _, op := range []string{"not", "-"} {
		if !p.sign(op) {
			continue
		}
		return p.deeper(at, func() *node {
			kid := p.binary(map[string]int{"not": bindsNot, "-": bindsProduct + 1}[op])
			return p.node(node{kind: nodeUnary, text: op, from: at, begin: at, to: kid.to}, kid)
		})
	}
	return p.postfix(p.primary())
}

// postfix reads [k] and .line behind a part.
func (p *parser) postfix(n *node) *node {
	for {
		at := p.token.from
		switch {
		case p.sign("["):
			k := p.deeper(at, p.choice)
			end := p.expect("]")
			n = p.node(node{kind: nodePast, text: "[", from: at, begin: n.begin, to: end.to}, n, k)
		case p.sign("."):
			if p.token.kind != tokenName {
				p.unexpected("the name of a line")
			}
			line := p.advance()
			n = p.node(node{kind: nodeLine, text: line.text, from: line.from, begin: n.begin, to: line.to}, n)
		default:
			return n
		}
	}
}

// primary reads a number, a text, a name, a call or a bracket.
func (p *parser) primary() *node {
	t := p.token
	switch {
	case t.kind == tokenNumber, t.kind == tokenPart:
		p.advance()
		part := t.kind == tokenPart
		return p.node(node{kind: nodeNumber, num: t.num, part: part, from: t.from, begin: t.from, to: t.to})
	case t.kind == tokenText:
		p.advance()
		return p.node(node{kind: nodeText, text: t.text, from: t.from, begin: t.from, to: t.to})
	case t.kind == tokenName:
		return p.name()
	case p.sign("("):
		n := p.deeper(t.from, p.choice)
		n.begin = min(n.begin, t.from)
		n.to = p.expect(")").to
		return n
	}
	p.unexpected("a number, a word or a bracket")
	return nil
}

// prefixes are those of Pine that mean nothing here.
var prefixes = []string{"ta", "math"}

// name reads a name, with its arguments where it has some.
func (p *parser) name() *node {
	t := p.advance()
	for slices.Contains(prefixes, t.text) && p.sign(".") {
		if p.token.kind != tokenName {
			p.unexpected("a word")
		}
		t = p.advance()
	}
	at := p.token.from
	if !p.sign("(") {
		return p.node(node{kind: nodeName, text: t.text, from: t.from, begin: t.from, to: t.to})
	}
	var args []*node
	n := p.deeper(at, func() *node {
		for p.token.kind != tokenSign || p.token.text != ")" {
			if len(args) > 0 && !p.sign(",") {
				p.unexpected(`"," or ")"`)
			}
			args = append(args, p.choice())
		}
		return nil
	})
	end := p.expect(")")
	n = p.node(node{kind: nodeCall, text: t.text, from: t.from, begin: t.from, to: end.to}, args...)
	return n
}
