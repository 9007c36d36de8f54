package lang

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Miss is a part of a condition, as "and" joins them, that was false where all others were true.
type Miss struct {
	Part     string      // as written
	Times    int         // how often
	Is       string      // with its figures at the nearest one, as Explain
	At       market.Time // of the nearest one
	Distance float64     // of it, between the two sides of a comparison, in parts of the larger one; 1 without sides
}

// part is a Miss with the code that decides it and its sides.
type part struct {
	Miss
	expr        *expr
	code        []instruction
	left, right []instruction // nil: it has no sides
	alone       mask          // the candles of the row at which it alone is false
}

// Watch lets the state count the near misses of a condition from now on.
func (s *State) Watch(rule int) {
	code := func(e *expr) []instruction {
		g := generator{checker: &checker{program: s.program}}
		g.rule(e)
		return g.code
	}
	s.parts = nil
	for _, e := range joined(nil, s.program.rules[rule].expr) {
		p := part{Miss: Miss{Part: e.text, Distance: math.Inf(1)}, expr: e, code: code(e)}
		if e.op >= opLess && e.op <= opCrossDown {
			p.left, p.right = code(e.kids[0]), code(e.kids[1])
		}
		s.parts = append(s.parts, p)
	}
}

// joined appends the parts of a condition that "and" joins.
func joined(all []*expr, e *expr) []*expr {
	if e.op != opAnd {
		return append(all, e)
	}
	return joined(joined(all, e.kids[0]), e.kids[1])
}

// Misses are the parts of the watched condition, in the order in which they are written.
func (s *State) Misses() (all []Miss) {
	for i := range s.parts {
		all = append(all, s.parts[i].Miss)
	}
	return all
}

// Missed counts a decision at which the watched condition was false.
func (s *State) Missed(in *Inputs, at market.Time) {
	alone := -1
	for i := range s.parts {
		switch v, ok := run(s.parts[i].code, 0, s.cells, in); {
		case !ok || v == 0 && alone >= 0:
			return
		case v == 0:
			alone = i
		}
	}
	if alone < 0 {
		return
	}
	p, away := &s.parts[alone], 1.0
	p.Times++
	if p.left != nil {
		a, _ := run(p.left, 0, s.cells, in)
		b, _ := run(p.right, 0, s.cells, in)
		away = apart(a, b)
	}
	s.nearer(p, in, at, away)
}

// nearer keeps a miss if it is nearer than those before it.
func (s *State) nearer(p *part, in *Inputs, at market.Time, away float64) {
	if away < p.Distance {
		x := explanation{state: s, in: in}
		p.Distance, p.At, p.Is = away, at, strings.Join(x.facts(p.expr, false), ", ")
	}
}

// apart is the distance of two numbers, in parts of the larger one.
func apart(a, b float64) float64 {
	if most := max(math.Abs(a), math.Abs(b)); most > 0 {
		return math.Abs(a-b) / most
	}
	return 0
}

// miss marks the candles of the row at which one part alone is false.
func (r *row) miss(parts []part) {
	var once, twice, unknown mask
	for i := range parts {
		t := r.truth(parts[i].expr, r.firstOut)
		no := ^(t.is | t.unknown) & r.all()
		parts[i].alone = no
		twice |= once & no
		once |= no
		unknown |= t.unknown
	}
	for i := range parts {
		parts[i].alone &^= twice | unknown
	}
}

// MissedAhead counts candles that are ahead, a bit for each, the next one lowest: those at which
// the watched condition is false.
func (s *State) MissedAhead(of uint64) {
	r := s.row
	for i := range s.parts {
		p := &s.parts[i]
		if alone := p.alone & (mask(of) << r.at); alone != 0 {
			p.Times += bits.OnesCount64(uint64(alone))
			s.nearest(p, alone)
		}
	}
}

// nearest looks for the nearest miss of a part among candles of the row.
func (s *State) nearest(p *part, alone mask) {
	r, at, away := s.row, bits.TrailingZeros64(uint64(alone)), 1.0
	if p.left != nil {
		a, _ := r.value(p.expr.kids[0], r.firstOut)
		b, _ := r.value(p.expr.kids[1], r.firstOut+1)
		away = math.Inf(1)
		for rest := alone; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(uint64(rest))
			if d := apart(r.columns[a][i], r.columns[b][i]); d < away {
				at, away = i, d
			}
		}
	}
	if !(away < p.Distance) {
		return
	}
	now := slices.Clone(s.cells)
	s.fill(at)
	s.nearer(p, nil, s.program.streams[0].interval.End(r.starts[at]), away)
	copy(s.cells, now)
}
