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
func NewATR(n int) ATR { return ATR{smooth: wilder(n)} }

// Push takes the next candle.
func (a *ATR) Push(c market.Candle) {
	a.smooth.push(float64(trueRange(c, a.last)))
	a.last = c.Close
}

// trueRange is the range of a candle with the gap from the close before it, which is 0 where there
// is none.
func trueRange(c market.Candle, last market.Price) market.Price {
	if last == 0 {
		return c.High - c.Low
	}
	return max(c.High, last) - min(c.Low, last)
}

// Ready reports whether n candles were pushed.
func (a *ATR) Ready() bool { return a.smooth.ready() }

// Value is the average true range.
func (a *ATR) Value() float64 { return a.smooth.value }

// Times is k average ranges as a distance between prices, rounded up to a whole price unit: 0
// before the first candle. It panics where the result leaves int64.
func (a *ATR) Times(k float64) market.Price { return reach(k * a.Value()) }

// Warmup is about 6.9·n.
func (a *ATR) Warmup() int { return 1 + a.smooth.warmup() }

// Keltner is a band of k average true ranges around the exponential average of the closes.
type Keltner struct {
	middle EMA
	reach  ATR
	k      float64
}

// NewKeltner returns a band around an EMA of n closes, with an ATR of m candles; 20, 10 and 2 are
// usual. It panics where n or m is below 1.
func NewKeltner(n, m int, k float64) Keltner { return Keltner{NewEMA(n), NewATR(m), k} }

// Push takes the next candle.
func (b *Keltner) Push(c market.Candle) {
	b.middle.Push(c.Close)
	b.reach.Push(c)
}

// Ready reports whether n and m candles were pushed.
func (b *Keltner) Ready() bool { return b.middle.Ready() && b.reach.Ready() }

// Middle is the exponential average.
func (b *Keltner) Middle() Level { return b.middle.level }

// Upper is the middle plus k ranges.
func (b *Keltner) Upper() Level { return b.Middle() + Level(b.k*b.reach.Value()) }

// Lower is the middle less k ranges.
func (b *Keltner) Lower() Level { return b.Middle() - Level(b.k*b.reach.Value()) }

// Warmup is that of the EMA or of the ATR, the longer one.
func (b *Keltner) Warmup() int { return max(b.middle.Warmup(), b.reach.Warmup()) }
