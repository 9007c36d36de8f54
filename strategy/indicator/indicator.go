// Package indicator holds moving figures of a market: SMA, Cross, EMA, RSI, ATR, StdDev, Bollinger,
// Donchian and VWAP. It never decides anything, never looks ahead and does not allocate after
// construction; sums of prices are integers, because a float sum drifts and shows crosses that
// never were. Start at SMA; all others have the same shape.
//
// Push takes the next candle or price in constant time (Donchian: on average). Ready reports
// whether enough was pushed for the figures to mean something; before that they are of no use.
// Figures are in the market's price units (ticks of 10^-Market.PriceDigits), the RSI from 0 to 100.
// The values are plain: keep them in a struct and do not copy them once pushed to.
//
// Warmup is the number of pushes after which earlier history has no say: starting earlier changes a
// figure by less than 1e-9 of itself. For windows that is their length; for averages with a memory
// without end it is counted from their decay.
//
// Known limitation: a sum over a window must fit an int64, which a price of a million with eight
// decimals does over 92,000 candles.
package indicator

import (
	"fmt"
	"math"
)

// forgotten is what may be left of the past after a warm-up. It is smaller than the 1e-9 that is
// promised, because what is forgotten may have been a thousand times larger than what is there now.
const forgotten = 1e-12

// decayed returns after how many pushes an average that keeps the part `kept` of itself at each has
// forgotten its start.
func decayed(kept float64) int {
	if kept <= 0 {
		return 0
	}
	return int(math.Ceil(math.Log(forgotten) / math.Log(kept)))
}

// window panics where n is no length.
func window(n int) int {
	if n < 1 {
		panic(fmt.Sprintf("indicator: a window of %d", n))
	}
	return n
}
