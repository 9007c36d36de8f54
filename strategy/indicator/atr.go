package indicator

import "github.com/tidemark-trading/tidemark/market"

// ATR is Wilder's average true range (weight 1/n, started with the mean of the first n): the range
// of a candle with the gap from the close before it. The range of the first candle is its high less
// its low.
type ATR struct {
	smooth smooth
	last   market.Price
}

// NewATR returns an average over n candles. It panics where n is below 1.
func NewATR(n int) ATR { return ATR{smooth: newSmooth(n, 1/float64(n))} }

// Push takes the next candle.
func (a *ATR) Push(c market.Candle) {
	high, low := c.High, c.Low
	if a.last != 0 {
		high, low = max(high, a.last), min(low, a.last)
	}
	a.last = c.Close
	a.smooth.push(float64(high - low))
}

// Ready reports whether n candles were pushed.
func (a *ATR) Ready() bool { return a.smooth.ready() }

// Value is the average true range.
func (a *ATR) Value() float64 { return a.smooth.value }

// Warmup is about 29·n.
func (a *ATR) Warmup() int { return 1 + a.smooth.warmup() }
