package indicator

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// MACD is the distance of a fast EMA from a slow one, and an EMA of this distance, the signal.
type MACD struct {
	fast, slow, signal smooth
}

// NewMACD returns a MACD; 12, 26 and 9 are usual. It panics unless 1 ≤ fast < slow and 1 ≤ signal.
func NewMACD(fast, slow, signal int) MACD {
	if fast >= slow {
		panic(fmt.Sprintf("indicator: a MACD of averages over %d and %d prices", fast, slow))
	}
	return MACD{fast: exponential(fast), slow: exponential(slow), signal: exponential(signal)}
}

// Push takes the next price.
func (m *MACD) Push(p market.Price) {
	m.fast.push(float64(p))
	m.slow.push(float64(p))
	if m.slow.ready() {
		m.signal.push(m.Value())
	}
}

// Ready reports whether slow+signal−1 prices were pushed.
func (m *MACD) Ready() bool { return m.signal.ready() }

// Value is the fast average less the slow one.
func (m *MACD) Value() float64 { return m.fast.value - m.slow.value }

// Signal is the average of the value.
func (m *MACD) Signal() float64 { return m.signal.value }

// Histogram is the value less the signal.
func (m *MACD) Histogram() float64 { return m.Value() - m.signal.value }

// Warmup is that of an average of the slow average: 95 for 12, 26 and 9.
func (m *MACD) Warmup() int { return chained(&m.slow, &m.signal) }
