package backtest

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// line is a plotted line in bounded memory: a curve of its values, and its gaps. A gap that is
// shorter than a bucket of the curve is not kept.
type line struct {
	key    lineKey
	curve  curve
	before sample // the newest value in the curve
	last   sample // the newest value; it enters the curve with the next, as another at its instant replaces it
	has    bool
	broken bool // a break follows last
	gaps   []lineBreak
	drawn  []linePoint // what points returned
}

// lineBreak is a break of a line, from the value before it to the value after it.
type lineBreak struct{ from, to market.Time }

// linePoint is a value of a line to draw; NaN breaks the line.
type linePoint struct {
	at    market.Time
	value float64
}

func newLine(key lineKey) *line {
	return &line{key: key, curve: curve{end: math.MinInt64}}
}

// drawable reports whether a chart draws a number: NaN, infinity and beyond 1e100 break a line.
func drawable(value float64) bool { return math.Abs(value) <= 1e100 }

// add adds the next value. NaN, infinity and what no chart draws break the line.
func (l *line) add(at market.Time, value float64) {
	if !drawable(value) {
		l.broken = l.has
		return
	}
	next := sample{at: at, equity: market.Money(ordered(value))}
	if l.has && at > l.last.at {
		l.settle()
	}
	if l.has && at > l.last.at && l.broken && at-l.last.at >= l.curve.width {
		l.gaps = append(l.gaps, lineBreak{l.last.at, at})
	}
	l.last, l.has, l.broken = next, true, false
}

// settle puts the newest value into the curve. A curve whose buckets have grown loses the gaps that
// are shorter.
func (l *line) settle() {
	width := l.curve.width
	if l.last.at > l.curve.end {
		l.curve.begin(l.last, l.before)
	} else {
		l.curve.add(l.last)
	}
	l.before = l.last
	if l.curve.width == width {
		return
	}
	kept := l.gaps[:0]
	for _, g := range l.gaps {
		if g.to-g.from >= l.curve.width {
			kept = append(kept, g)
		}
	}
	l.gaps = kept
}

// points returns the line to draw. The first call ends the line.
func (l *line) points() []linePoint {
	if l.drawn != nil || !l.has {
		return l.drawn
	}
	l.settle()
	samples, gaps := l.curve.points(l.last), l.gaps
	for _, s := range samples {
		if len(gaps) > 0 && s.at >= gaps[0].to { // the value before a gap is the last of its bucket: it is there
			l.drawn = append(l.drawn, linePoint{gaps[0].from + 1, math.NaN()})
			gaps = gaps[1:]
		}
		l.drawn = append(l.drawn, linePoint{s.at, unordered(int64(s.equity))})
	}
	return l.drawn
}

// ordered turns a number into an integer of the same order, so that a curve, which knows integers,
// keeps the extremes. unordered turns it back.
func ordered(x float64) int64 {
	bits := int64(math.Float64bits(x))
	return bits ^ bits>>63&math.MaxInt64
}

func unordered(n int64) float64 { return math.Float64frombits(uint64(n ^ n>>63&math.MaxInt64)) }
