// Package indicator holds moving figures of a market. It never decides anything, never looks ahead
// and does not allocate after construction (a Batch: only what its function allocates). Start at
// SMA; the others have the same shape.
//
//   - Averages: SMA, EMA, RMA, DEMA, TEMA, WMA, HMA, KAMA, VWMA, VWAP, SessionVWAP.
//   - Trend: MACD, PPO, TRIX, ADX, Aroon, Vortex, Ichimoku, SAR, Supertrend, Regression, Slope.
//   - Momentum: RSI, Stochastic, StochRSI, WilliamsR, CCI, CMO, TSI, Ultimate, Awesome, ROC.
//   - Volume: OBV, AccDist, Chaikin, CMF, MFI.
//   - Bands: Bollinger, Keltner, Donchian, Chandelier, Highest, Lowest, PivotPoints, Swings.
//   - Candles: HeikinAshi, Patterns.
//   - Spread: ATR, StdDev, ZScore, Rank, Correlation.
//   - Events: Cross, LineCross, Since.
//   - Functions over slices, such as those of TA-Lib: Batch, CandleBatch.
//
// Push takes the next candle, price or value. Ready reports whether enough was pushed; before that
// the figures mean nothing. Value is the figure. Figures that are prices have Below and Above, the
// price some percent away; those with several lines return each as a Level, which has them too:
//
//	c.Close < mean.Below(3*market.Percent)
//	c.Close < band.Lower().Below(0)
//
// Figures are in the market's price units (10^-Market.PriceDigits), those of a scale from 0 to 100.
// Indicators are plain values: keep them in a struct and do not copy them after the first Push.
// Sums of prices are integers, because a float sum drifts and shows crosses that never were.
//
// Push takes constant time, on average for those that know the highest of a window.
// CCI, Rank and a Batch read or move their whole window.
//
// Warmup is the number of pushes after which earlier ones have no effect. For a window that is its
// length: an earlier start gives the same figure. An exponential average keeps a little of its past
// for ever: its warm-up is the number of pushes after which everything before them has less than
// 0.1 % of the weight. That is 3.5·n for an EMA and 6.9·n for Wilder's averages (RSI, ATR). An
// earlier start then moves the average by less than 0.3 % of the range of what it averages.
//
// Known limitation: a sum over a window must fit an int64, which a price of a million with eight
// decimals does over 92,000 candles, and the sum of three such prices of a candle over 30,000. Push
// panics at a price that is too high for its window, and says how many decimals fewer fit.
//
// # Decisions
//
//   - Warm-up at 0.1 % of the weight. An exponential average never forgets the last bit. Warmup is
//     the number of pushes after which all before has less than 0.1 % of the weight. 10⁻¹² was
//     tried: an EMA(50) of days kept a strategy out for two years. Price: a past a thousand times
//     wilder still shows.
//   - Exact windows, prices that round. Sums over a window are integers of 64 or 128 bits, so a
//     value that leaves the window leaves no remainder. Quotients and averages are floats; Below
//     and Above round the exact product. Price: an SMA divides at each push.
package indicator
