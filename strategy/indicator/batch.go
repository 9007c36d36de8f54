package indicator

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Batch makes an indicator of a function over a slice, such as those of TA-Lib: it keeps the last n
// values and calls the function over them at each push. The last element of the answer is the
// value. That costs the whole function at each push.
type Batch struct {
	f      func([]float64) []float64
	column column
	answer
}

// NewBatch returns the indicator of a function over the last n values: choose n as large as the
// function needs to forget its start. It panics where n is below 1.
//
// The function gets the values oldest first. It may change the slice, and must not keep it. A
// function with variables of its own (a closure) makes --check-lookahead slow, not wrong; a
// function with its lengths as constants does not.
func NewBatch(n int, f func([]float64) []float64) Batch {
	return Batch{f: f, column: newColumn(n), answer: answer{n: n}}
}

// Push takes the next value. From the n-th on it calls the function, and panics where the answer is
// empty.
func (b *Batch) Push(x float64) {
	if b.column.push(x); b.more() {
		b.take(b.f(b.column.lend()))
	}
}

// Columns are candles, oldest first, by their prices and their volume.
type Columns struct{ Open, High, Low, Close, Volume []float64 }

// CandleBatch is a Batch of a function over whole candles.
type CandleBatch struct {
	f                              func(Columns) []float64
	open, high, low, close, volume column
	answer
}

// NewCandleBatch returns the indicator of a function over the last n candles. All that NewBatch
// says of its function holds for this one.
func NewCandleBatch(n int, f func(Columns) []float64) CandleBatch {
	return CandleBatch{f, newColumn(n), newColumn(n), newColumn(n), newColumn(n), newColumn(n), answer{n: n}}
}

// Push takes the next candle. From the n-th on it calls the function, and panics where the answer
// is empty.
func (b *CandleBatch) Push(c market.Candle) {
	b.open.push(float64(c.Open))
	b.high.push(float64(c.High))
	b.low.push(float64(c.Low))
	b.close.push(float64(c.Close))
	if b.volume.push(float64(c.Volume)); b.more() {
		b.take(b.f(Columns{b.open.lend(), b.high.lend(), b.low.lend(), b.close.lend(), b.volume.lend()}))
	}
}

// column is the last values in order, and what a function is given of them.
type column struct{ window, lent []float64 }

func newColumn(n int) column { return column{make([]float64, window(n)), make([]float64, n)} }

func (c *column) push(x float64) {
	copy(c.window, c.window[1:])
	c.window[len(c.window)-1] = x
}

func (c *column) lend() []float64 {
	copy(c.lent, c.window)
	return c.lent
}

// answer is what a function over the last n pushes said.
type answer struct {
	n, seen int // seen: up to n
	value   float64
}

// more counts a push and reports whether there are n.
func (a *answer) more() bool {
	a.seen = min(a.seen+1, a.n)
	return a.Ready()
}

func (a *answer) take(list []float64) {
	if len(list) == 0 {
		panic(fmt.Sprintf("indicator: the function of a batch of %d values returned nothing", a.n))
	}
	a.value = list[len(list)-1]
}

// Ready reports whether n were pushed.
func (a *answer) Ready() bool { return a.seen == a.n }

// Value is the last element of the function's answer.
func (a *answer) Value() float64 { return a.value }

// Warmup is n.
func (a *answer) Warmup() int { return a.n }
