// Package indicator holds moving figures of a market: SMA, Cross, EMA, RSI, ATR, StdDev, Bollinger,
// Donchian and VWAP. It never decides anything, never looks ahead and does not allocate after
// construction; sums of prices are integers, because a float sum drifts and shows crosses that
// never were. Start at SMA; all others have the same shape.
//
// Push takes the next candle or price in constant time (Donchian: on average). Ready reports
// whether enough was pushed; before that the figures mean nothing. Figures are in the market's
// price units (ticks of 10^-Market.PriceDigits), the RSI from 0 to 100. Indicators are plain
// values: keep them in a struct and do not copy them after the first Push.
//
// Warmup is the number of pushes after which earlier history has no effect: an earlier start
// changes a figure by less than 1e-9 of itself. For windows that is their length; for exponential
// averages it follows from their decay.
//
// Known limitation: a sum over a window must fit an int64, which a price of a million with eight
// decimals does over 92,000 candles.
package indicator

import (
	"fmt"
	"math"
)

// forgotten is the weight of the past after a warm-up. It is smaller than the promised 1e-9,
// because past values may have been a thousand times larger than present ones.
const forgotten = 1e-12

// decayed returns the number of pushes after which an average that keeps the part `kept` of itself
// at each has forgotten its start.
func decayed(kept float64) int {
	if kept <= 0 {
		return 0
	}
	return int(math.Ceil(math.Log(forgotten) / math.Log(kept)))
}

// window returns n and panics where it is below 1.
func window(n int) int {
	if n < 1 {
		panic(fmt.Sprintf("indicator: a window of %d", n))
	}
	return n
}
