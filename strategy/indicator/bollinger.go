package indicator

import "github.com/tidemark-trading/tidemark/market"

// Bollinger is a band of k standard deviations around the simple average of the last n prices.
type Bollinger struct {
	deviation StdDev
	k         float64
}

// NewBollinger returns a band over n prices; 20 and 2 are usual. It panics where n is below 1.
func NewBollinger(n int, k float64) Bollinger { return Bollinger{NewStdDev(n), k} }

// Push takes the next price.
func (b *Bollinger) Push(p market.Price) { b.deviation.Push(p) }

// Ready reports whether n prices were pushed.
func (b *Bollinger) Ready() bool { return b.deviation.Ready() }

// Middle is the simple average.
func (b *Bollinger) Middle() Level { return b.deviation.Mean() }

// Upper is the middle plus k deviations.
func (b *Bollinger) Upper() Level { return b.Middle() + Level(b.k*b.deviation.Value()) }

// Lower is the middle less k deviations.
func (b *Bollinger) Lower() Level { return b.Middle() - Level(b.k*b.deviation.Value()) }

// Warmup is n.
func (b *Bollinger) Warmup() int { return b.deviation.Warmup() }
