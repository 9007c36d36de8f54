package indicator

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// MACD is the distance of a fast EMA from a slow one, and an EMA of this distance, the signal.
type MACD struct{ gap }

// NewMACD returns a MACD; 12, 26 and 9 are usual. It panics unless 1 ≤ fast < slow and 1 ≤ signal.
func NewMACD(fast, slow, signal int) MACD { return MACD{newGap("MACD", fast, slow, signal)} }

// Push takes the next price.
func (m *MACD) Push(p market.Price) {
	m.average(float64(p))
	m.push(m.fast.value - m.slow.value)
}

// PPO is the percentage price oscillator: a MACD in percent of its slow average, so that markets of
// any price compare.
type PPO struct{ gap }

// NewPPO returns an oscillator; 12, 26 and 9 are usual. It panics unless 1 ≤ fast < slow and
// 1 ≤ signal.
func NewPPO(fast, slow, signal int) PPO { return PPO{newGap("PPO", fast, slow, signal)} }

// Push takes the next price.
func (o *PPO) Push(p market.Price) {
	o.average(float64(p))
	o.push(percent(o.fast.value-o.slow.value, o.slow.value))
}

// gap is a distance between two exponential averages of the same values, and its signal.
type gap struct {
	fast, slow, signal smooth
	value              float64
}

func newGap(name string, fast, slow, signal int) gap {
	if fast >= slow {
		panic(fmt.Sprintf("indicator: a %s of averages over %d and %d values", name, fast, slow))
	}
	return gap{fast: exponential(fast), slow: exponential(slow), signal: exponential(signal)}
}

func (g *gap) average(x float64) {
	g.fast.push(x)
	g.slow.push(x)
}

func (g *gap) push(value float64) {
	if g.value = value; g.slow.ready() {
		g.signal.push(value)
	}
}

// Ready reports whether slow+signal−1 values were pushed.
func (g *gap) Ready() bool { return g.signal.ready() }

// Value is the fast average less the slow one, of a PPO in percent of the slow one.
func (g *gap) Value() float64 { return g.value }

// Signal is the average of the value.
func (g *gap) Signal() float64 { return g.signal.value }

// Histogram is the value less the signal.
func (g *gap) Histogram() float64 { return g.value - g.signal.value }

// Warmup is that of an average of the slow average: 95 for 12, 26 and 9.
func (g *gap) Warmup() int { return chained(&g.slow, &g.signal) }
