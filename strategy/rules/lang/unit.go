package lang

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// series is an indicator over something: how each state makes its unit.
type series struct {
	from  []int  // cells that it reads
	to    int    // cell of its first line
	name  string // of the function that makes its unit, "" for the past: a func would not be copied with a run
	args  []float64
	given []*expr // the arguments as they were written
	of    []dim   // of the series that it reads
	scale float64 // steps of the fixed point into which a series is cut; 1 for whole numbers
	other float64 // that of a second series
	ticks []bool  // lines that come in these steps
}

func (s *series) unit() unit {
	make := newPast
	if s.name != "" {
		make = find(s.name).make
	}
	u := make(s.args)
	u.plug(s)
	return u
}

// unit is an indicator of a state. push takes a candle, or the cells that it reads, and writes its
// lines.
type unit interface {
	push(s *State)
	plug(s *series)
	warmup() int
}

// fields are those of a candle in the cells: open, high, low, close, volume.
const fields = 5

// largest is the bits of the largest figure that a dimension lets expect.
func (d dim) largest() int {
	switch {
	case d.kind == scale:
		return 8
	case d.price == 1 && d.volume == 0:
		return 44
	case d.price == 0 && d.volume == 1:
		return 56
	case !d.bare():
		return 66 // a volume times a price
	}
	return 20 // a ratio, a percentage, a count
}

// steps is the fixed point of a series that is no field of a candle: as fine as sums over n values
// allow.
func (d dim) steps(n int) float64 {
	return math.Ldexp(1, min(62-bits.Len(uint(2*n))-d.largest(), 40))
}

// figure is an indicator of package indicator.
type figure[T any] interface {
	*T
	Ready() bool
	Value() float64
	Warmup() int
}

// lines writes the lines of an indicator into cells.
type lines[T any, P figure[T]] struct {
	x    T
	many func(x P, to []float64) // where there are several; a method, so that a run can be copied
	to   int
	by   []float64 // factor of each line
}

func (l *lines[T, P]) plug(s *series) {
	l.to, l.by = s.to, make([]float64, len(s.ticks))
	for i := range l.by {
		if l.by[i] = 1; s.ticks[i] {
			l.by[i] = 1 / s.scale
		}
	}
}

func (l *lines[T, P]) warmup() int { return P(&l.x).Warmup() }

func (l *lines[T, P]) write(s *State) {
	if !P(&l.x).Ready() {
		l.blank(s)
		return
	}
	if l.many == nil {
		s.cells[l.to] = P(&l.x).Value() * l.by[0]
		return
	}
	to := s.cells[l.to : l.to+len(l.by)]
	l.many(&l.x, to)
	for i, by := range l.by {
		to[i] *= by
	}
}

// blank makes the lines undefined for a candle.
func (l *lines[T, P]) blank(s *State) {
	for i := range l.by {
		s.cells[l.to+i] = undefined()
	}
}

// ofCandles is an indicator of candles.
type ofCandles[T any, P candled[T]] struct{ lines[T, P] }

type candled[T any] interface {
	figure[T]
	Push(market.Candle)
}

func candles[T any, P candled[T]](x T, many func(P, []float64)) unit {
	return &ofCandles[T, P]{lines[T, P]{x: x, many: many}}
}

func (u *ofCandles[T, P]) push(s *State) {
	P(&u.x).Push(s.candle)
	u.write(s)
}

// port is the way of a unit with one line from its cell and to it.
type port struct {
	from, to         int
	scale, limit, by float64
}

func (p *port) plug(s *series) {
	if p.to, p.scale, p.limit, p.by = s.to, s.scale, s.limit(), 1; s.ticks[0] {
		p.by = 1 / s.scale
	}
	if len(s.from) > 0 {
		p.from = s.from[0]
	}
}

// take is the series as a whole number of steps; ok: it is defined, and within the fixed point.
func (p *port) take(s *State) (x float64, ok bool) {
	if x = s.cells[p.from]; p.scale != 1 {
		x = math.RoundToEven(x * p.scale)
	}
	return x, x <= p.limit && x >= -p.limit
}

func (p *port) give(s *State, x float64, ready bool) {
	if !ready {
		x = undefined()
	}
	s.cells[p.to] = x * p.by
}

// ofPrices is an indicator of whole numbers. Other series are cut to a fixed point. Where the
// series is undefined or leaves the fixed point, the indicator takes nothing and is undefined.
type ofPrices[T any, P priced[T]] struct {
	lines[T, P]
	series port
}

type priced[T any] interface {
	figure[T]
	Push(market.Price)
}

func prices[T any, P priced[T]](x T, many func(P, []float64)) unit {
	return &ofPrices[T, P]{lines: lines[T, P]{x: x, many: many}}
}

func (u *ofPrices[T, P]) plug(s *series) {
	u.lines.plug(s)
	u.series.plug(s)
}

func (u *ofPrices[T, P]) push(s *State) {
	x, ok := u.series.take(s)
	if !ok {
		u.blank(s)
		return
	}
	P(&u.x).Push(market.Price(x))
	u.write(s)
}

// ofFloats is an indicator of any numbers.
type ofFloats[T any, P floated[T]] struct {
	lines[T, P]
	from int
}

type floated[T any] interface {
	figure[T]
	Push(float64)
}

func floats[T any, P floated[T]](x T) unit { return &ofFloats[T, P]{lines: lines[T, P]{x: x}} }

func (u *ofFloats[T, P]) plug(s *series) {
	u.lines.plug(s)
	u.from, u.by[0] = s.from[0], 1
}

func (u *ofFloats[T, P]) push(s *State) {
	x := s.cells[u.from]
	if x-x != 0 { // undefined, or infinite
		u.blank(s)
		return
	}
	P(&u.x).Push(x)
	u.write(s)
}

// limit is the largest number of steps of which an indicator can take the sums.
func (s *series) limit() float64 { return float64(math.MaxInt64 / max(2*s.longest(), 4)) }

// longest is the largest argument.
func (s *series) longest() (n int) {
	for _, x := range s.args {
		n = max(n, int(x))
	}
	return n
}

// past is a series k candles ago.
type past struct {
	list     []float64
	at       int
	seen     int
	from, to int
}

// newPast is a past of so many candles.
func newPast(args []float64) unit { return &past{list: make([]float64, int(args[0]))} }

func (p *past) plug(s *series) { p.from, p.to = s.from[0], s.to }
func (p *past) warmup() int    { return len(p.list) + 1 }

func (p *past) push(s *State) {
	x := s.cells[p.from]
	if s.cells[p.to] = undefined(); p.seen == len(p.list) {
		s.cells[p.to] = p.list[p.at]
	} else {
		p.seen++
	}
	p.list[p.at] = x
	if p.at++; p.at == len(p.list) {
		p.at = 0
	}
}

// ladder is the highest (or lowest) of the last n values, and how long ago it was.
type ladder struct {
	list     []rung // values that no higher one follows, in falling order, from first on
	first    int
	count    int
	next     int
	sign     float64 // -1: the lowest
	from, to int
}

type rung struct {
	value float64
	at    int
}

func (l *ladder) plug(s *series) { l.from, l.to = s.from[0], s.to }
func (l *ladder) warmup() int    { return len(l.list) }

func (l *ladder) push(s *State) {
	x, n := l.sign*s.cells[l.from], len(l.list)
	s.cells[l.to], s.cells[l.to+1] = undefined(), undefined()
	if x != x {
		return
	}
	if l.count > 0 && l.list[l.first].at <= l.next-n {
		l.first, l.count = (l.first+1)%n, l.count-1
	}
	for l.count > 0 && l.list[(l.first+l.count-1)%n].value <= x {
		l.count--
	}
	l.list[(l.first+l.count)%n] = rung{x, l.next}
	l.count++
	if l.next++; l.next >= n {
		top := l.list[l.first]
		s.cells[l.to], s.cells[l.to+1] = l.sign*top.value, float64(l.next-1-top.at)
	}
}

// pairs is the correlation of two series, each in a fixed point of its own.
type pairs struct {
	x      indicator.Correlation
	a, b   int
	scales [2]float64
	limit  float64
	to     int
}

func (p *pairs) plug(s *series) {
	p.a, p.b, p.to, p.scales, p.limit = s.from[0], s.from[1], s.to, [2]float64{s.scale, s.other}, s.limit()
}

func (p *pairs) warmup() int { return p.x.Warmup() }

func (p *pairs) push(s *State) {
	x, y := s.cells[p.a]*p.scales[0], s.cells[p.b]*p.scales[1]
	if s.cells[p.to] = undefined(); !(math.Abs(x) <= p.limit && math.Abs(y) <= p.limit) {
		return
	}
	p.x.Push(market.Price(math.RoundToEven(x)), market.Price(math.RoundToEven(y)))
	if p.x.Ready() {
		s.cells[p.to] = p.x.Value()
	}
}

// since counts the candles since a condition was true.
type since struct {
	x        indicator.Since
	from, to int
}

func (c *since) plug(s *series) { c.from, c.to = s.from[0], s.to }
func (c *since) warmup() int    { return 1 }

func (c *since) push(s *State) {
	if is := s.cells[c.from]; is == is {
		c.x.Push(is != 0)
	}
	if c.x.Ready() {
		s.cells[c.to] = c.x.Value()
	}
}

// when is the value of a series at the last times that a condition was true.
type when struct {
	list     []float64 // the latest one first
	seen     int
	is, from int
	to       int
}

func (w *when) plug(s *series) { w.is, w.from, w.to = s.from[0], s.from[1], s.to }
func (w *when) warmup() int    { return 1 }

func (w *when) push(s *State) {
	if s.cells[w.is] == 1 {
		copy(w.list[1:], w.list)
		w.list[0] = s.cells[w.from]
		w.seen++
	}
	if w.seen >= len(w.list) {
		s.cells[w.to] = w.list[len(w.list)-1]
	}
}

// median is the middle of the last n values.
type median struct {
	window   []float64 // of the last n, the oldest at next
	sorted   []float64
	next     int
	from, to int
}

func (m *median) plug(s *series) { m.from, m.to = s.from[0], s.to }
func (m *median) warmup() int    { return len(m.window) }

func (m *median) push(s *State) {
	x := s.cells[m.from]
	if s.cells[m.to] = undefined(); x != x {
		return
	}
	n := len(m.window)
	if len(m.sorted) == n {
		at, _ := slices.BinarySearch(m.sorted, m.window[m.next])
		m.sorted = slices.Delete(m.sorted, at, at+1)
	}
	at, _ := slices.BinarySearch(m.sorted, x)
	m.sorted = slices.Insert(m.sorted, at, x)
	m.window[m.next] = x
	if m.next++; m.next == n {
		m.next = 0
	}
	if len(m.sorted) == n {
		s.cells[m.to] = m.sorted[(n-1)/2]/2 + m.sorted[n/2]/2
	}
}
