package lang

import (
	"math"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// series is an indicator over something: how each state makes its unit.
type series struct {
	from   []int  // cells that it reads
	to     int    // cell of its first line
	name   string // of the function that makes its unit; empty: a past. A func could not be copied with a run
	args   []float64
	scale  float64 // steps of the fixed point into which a series is cut; 1 for whole numbers
	ticks  []bool  // lines that come in these steps
	output int     // lines
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

// room is the number of the steps that fit an indicator's sums over 5,000 values.
const room = 62

// steps is the fixed point of a series that is no whole number: as fine as sums over n values allow
// where the series is as large as its dimension lets expect.
func (d dim) steps(n int) float64 {
	largest := 26
	switch {
	case d.kind == scale:
		largest = 8
	case !d.bare():
		largest = 44 * max(1, int(d.price)) // a volume is about as large as a price
	}
	return math.Ldexp(1, max(min(room-bits.Len(uint(2*n))-largest, 40), 0))
}

// lines writes the lines of an indicator into cells.
type lines[T any] struct {
	x     T
	ready func(*T) bool
	warm  func(*T) int
	read  []func(*T) float64
	to    int
	by    []float64 // factor of each line
}

func (l *lines[T]) plug(s *series) {
	l.to, l.by = s.to, make([]float64, s.output)
	for i := range l.by {
		if l.by[i] = 1; s.ticks[i] {
			l.by[i] = 1 / s.scale
		}
	}
}

func (l *lines[T]) warmup() int { return l.warm(&l.x) }

func (l *lines[T]) write(cells []float64) {
	ready := l.ready(&l.x)
	for i, read := range l.read {
		if cells[l.to+i] = undefined(); ready {
			cells[l.to+i] = read(&l.x) * l.by[i]
		}
	}
}

// blank makes the lines undefined.
func (l *lines[T]) blank(cells []float64) {
	for i := range l.read {
		cells[l.to+i] = undefined()
	}
}

// ofCandles is an indicator of candles.
type ofCandles[T any] struct {
	lines[T]
	take func(*T, market.Candle)
}

func candles[T any](x T, take func(*T, market.Candle), ready func(*T) bool, warm func(*T) int,
	read ...func(*T) float64) unit {
	return &ofCandles[T]{lines[T]{x: x, ready: ready, warm: warm, read: read}, take}
}

func (u *ofCandles[T]) push(s *State) {
	u.take(&u.x, s.candle)
	u.write(s.cells)
}

// ofPrices is an indicator of whole numbers. Other series are cut to a fixed point. Where the
// series is undefined or leaves the fixed point, the indicator takes nothing and is undefined.
type ofPrices[T any] struct {
	lines[T]
	take  func(*T, market.Price)
	from  int
	scale float64
	limit float64
}

func prices[T any](x T, take func(*T, market.Price), ready func(*T) bool, warm func(*T) int,
	read ...func(*T) float64) unit {
	return &ofPrices[T]{lines: lines[T]{x: x, ready: ready, warm: warm, read: read}, take: take}
}

func (u *ofPrices[T]) plug(s *series) {
	u.lines.plug(s)
	u.from, u.scale = s.from[0], s.scale
	u.limit = math.Ldexp(1, room-bits.Len(uint(2*s.longest())))
}

// longest is the largest argument.
func (s *series) longest() (n int) {
	for _, x := range s.args {
		n = max(n, int(x))
	}
	return n
}

func (u *ofPrices[T]) push(s *State) {
	x := s.cells[u.from] * u.scale
	if !(math.Abs(x) <= u.limit) {
		u.blank(s.cells)
		return
	}
	u.take(&u.x, market.Price(math.RoundToEven(x)))
	u.write(s.cells)
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
