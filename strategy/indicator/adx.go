package indicator

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// ADX is Wilder's average directional index: how strong a trend is, from 0 to 100, up or down
// alike. Plus and Minus, the directional indicators, say which way. All averages have weight 1/n
// and start with the mean of their first n values.
type ADX struct {
	reach, plus, minus smooth
	index              smooth
	last               market.Candle
}

// NewADX returns an index over n candles; 14 is usual. It panics where n is below 1.
func NewADX(n int) ADX { return ADX{wilder(n), wilder(n), wilder(n), wilder(n), market.Candle{}} }

// Push takes the next candle.
func (a *ADX) Push(c market.Candle) {
	last := a.last
	a.last = c
	if last.Close == 0 {
		return
	}
	up, down := directional(c, last)
	a.plus.push(float64(up))
	a.minus.push(float64(down))
	if a.reach.push(float64(trueRange(c, last.Close))); a.reach.ready() {
		a.index.push(percent(math.Abs(a.plus.value-a.minus.value), a.plus.value+a.minus.value))
	}
}

// directional is by how much a candle lies higher or lower than the one before, 0 where it is less
// than in the other direction.
func directional(c, last market.Candle) (up, down market.Price) {
	up, down = max(c.High-last.High, 0), max(last.Low-c.Low, 0)
	switch {
	case up > down:
		return up, 0
	case down > up:
		return 0, down
	}
	return 0, 0
}

// percent is 100·part ÷ all, 0 where all is 0.
func percent(part, all float64) float64 {
	if all <= 0 {
		return 0
	}
	return 100 * (part / all)
}

// Ready reports whether 2·n candles were pushed; Plus and Minus are there after n+1.
func (a *ADX) Ready() bool { return a.index.ready() }

// Value is the average of 100·|Plus−Minus| ÷ (Plus+Minus).
func (a *ADX) Value() float64 { return a.index.value }

// Plus is the part of the true range by which highs rose, in percent.
func (a *ADX) Plus() float64 { return percent(a.plus.value, a.reach.value) }

// Minus is the part of the true range by which lows fell, in percent.
func (a *ADX) Minus() float64 { return percent(a.minus.value, a.reach.value) }

// Warmup is about 9.2·n, as of an average of averages.
func (a *ADX) Warmup() int { return 1 + chained(&a.reach, &a.index) }
